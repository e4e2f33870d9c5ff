/** Simulates a processor without wide instructions. Must be loaded first. */
WebAssembly.validate = () => false
