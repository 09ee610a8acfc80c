/** The storage of a tab: `sessionStorage`, or undefined if the browser forbids it. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The operator's secret while the page is open. */
export interface Session {
  /** Empty while signed out. */
  secret(): string;
  /** `keep` stores the secret in this tab until the tab is closed or the person signs out. */
  signIn(secret: string, keep: boolean): void;
  signOut(): void;
}

/** Restores the secret that the tab keeps. Only that entry ever leaves memory. */
export function createSession(storage: TabStorage | undefined): Session {
  let held = storage?.getItem(KEY) ?? '';
  return {
    secret: () => held,
    signIn(secret, keep) {
      held = secret;
      if (keep) storage?.setItem(KEY, secret);
      else storage?.removeItem(KEY);
    },
    signOut() {
      held = '';
      storage?.removeItem(KEY);
    },
  };
}

const KEY = 'vault-console-secret';
