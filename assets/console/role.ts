/** Notes the role of who has signed in: the style sheets hide what is `for-operators` or `for-root` from others. */
export function setRole(role: string): void {
  document.documentElement.dataset['role'] = role;
}

/** Whether the operator may change anything. */
export function mayAct(): boolean {
  return document.documentElement.dataset['role'] !== 'viewer';
}
