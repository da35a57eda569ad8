// Takes the place of the clipboard: one that works, none at all, or one that refuses. Without one,
// what is selected in a field is copied.
const [sort] = arguments;
const refusal = () => Promise.reject(new DOMException("no", "NotAllowedError"));
const takes = (text) => { window.copied.push(text); return Promise.resolve(); };
const clipboards = { works: { writeText: takes }, none: undefined, refuses: { writeText: refusal } };
window.copied = [];
Object.defineProperty(navigator, "clipboard", { configurable: true, value: clipboards[sort] });
document.execCommand = (command) => {
  const field = document.activeElement;
  if (command === "copy") window.copied.push(field.value.slice(field.selectionStart, field.selectionEnd));
  return command === "copy";
};
