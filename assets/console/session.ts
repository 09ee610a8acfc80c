/** Where a tab may keep what it is told to: `sessionStorage`, or nothing where the browser forbids it. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The operator's secret while the page is open. */
export interface Session {
  /** Empty when nobody is signed in. */
  secret(): string;
  /** `keep` leaves it with this tab, until the tab is closed or the person signs out. */
  signIn(secret: string, keep: boolean): void;
  signOut(): void;
}

/** Takes up what the tab was told to keep. Nothing but that one entry ever leaves memory. */
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
