// What a name must not have become: an element that loads, leads away or runs something.
const address = (one) => ["src", "href", "xlink:href", "action"].map((name) => one.getAttribute(name) ?? "").join(" ");
const runs = "iframe, object, embed, link, base, form, script[src]";
return [...document.querySelectorAll("body *")]
  .filter((one) => one.matches(runs) || /(https?|javascript):/.test(address(one))
    || one.getAttributeNames().some((name) => name.startsWith("on")))
  .map((one) => one.outerHTML.slice(0, 200));
