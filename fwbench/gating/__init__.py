"""The gate: two versions of the code in one sitting, exact quantities first, then seconds in pairs."""
