/**
 * Whether a message surely reached nobody: no connection was made, or it was refused before it was accepted, for a
 * reason that lies with the vault or its provider. A refusal of the recipient is not one: it would make trying out
 * addresses free. Read from the member `reachedNobody` of the error or of its causes.
 */
export function reachedNobody(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if ('reachedNobody' in one && one.reachedNobody === true) return true;
  }
  return false;
}
