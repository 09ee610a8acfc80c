// Tells passkey managers what became of passkeys (WebAuthn section 5.1.10). A browser without this changes nothing.

interface Signals {
  signalAllAcceptedCredentials?(told: {
    readonly rpId: string;
    readonly userId: string;
    readonly allAcceptedCredentialIds: readonly string[];
  }): Promise<void>;
  signalCurrentUserDetails?(told: {
    readonly rpId: string;
    readonly userId: string;
    readonly name: string;
    readonly displayName: string;
  }): Promise<void>;
  signalUnknownCredential?(told: { readonly rpId: string; readonly credentialId: string }): Promise<void>;
}

const signals = () => (globalThis as { readonly PublicKeyCredential?: Signals }).PublicKeyCredential;

/** Says which passkeys of a user handle are good: managers show these again, and hide or delete all others of it. */
export function tellAccepted(rpId: string, userId: string, ids: readonly string[]): void {
  tell(() => signals()?.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds: ids }));
}

/** Gives the passkeys of a user handle another name. */
export function tellName(rpId: string, userId: string, name: string): void {
  tell(() => signals()?.signalCurrentUserDetails?.({ rpId, userId, name, displayName: name }));
}

/** Has managers delete a passkey for good. */
export function tellUnknown(rpId: string, credentialId: string): void {
  tell(() => signals()?.signalUnknownCredential?.({ rpId, credentialId }));
}

/** Nothing waits for a manager, and nothing fails by one. */
function tell(ask: () => Promise<void> | undefined): void {
  // Some browsers throw, some reject.
  (async () => ask())().catch(() => undefined);
}
