"""The gate: two versions of the code in one sitting, exact results first, then seconds in pairs."""
