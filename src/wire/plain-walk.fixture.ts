/** Makes the process one whose processor knows no wide instructions. Must be loaded first. */
WebAssembly.validate = () => false
