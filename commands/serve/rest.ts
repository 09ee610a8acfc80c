/**
 * Loads what a start leaves out. From the source all is loaded by then. The build puts what the program leaves out here
 * (`scripts/rest.ts`), and this function where it is called.
 */
export function loadRest(): void {}
