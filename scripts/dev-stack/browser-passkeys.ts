// Passkeys in a browser without anybody's finger: Chromium's virtual authenticator, by its own protocol.
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { Hex } from 'ox';
import type { CDPSession, Page, Protocol } from 'puppeteer-core';
import type { P256PublicKey } from '../../lib/identity/passkey.ts';
import { createPasskey, type Passkey } from './passkey.ts';

/** Software passkeys, the same ones in every window they are attached to. */
export interface Passkeys {
  attach(page: Page): Promise<void>;
  /** Their credential ids, in base64url. */
  ids(): string[];
  /** Those that a page's signals have renamed, with their new names, and those that they have deleted, by their ids. */
  readonly signalled: { readonly renamed: string[]; readonly deleted: string[] };
  /** Their RP IDs. */
  rpIds(): string[];
  /** The key of the only one. */
  key(): P256PublicKey;
  /** The only one in software, which signs what a test wants. */
  twin(): Passkey;
  /** Whether the person lets them sign; false from now on means that nobody does. */
  allow(isAllowed: boolean): Promise<void>;
  /** Another authenticator that has the passkey made at this place alone, as on a second device. */
  only(place: number): Passkeys;
  /** The same passkeys of a person who takes the one that a field suggests. */
  suggested(): Passkeys;
}

/**
 * An authenticator that has no person takes a passkey that a field suggests at once, unless the browser suggests
 * none.
 */
function suggestNothing(): void {
  const isAvailable = async () => false;
  Object.assign(globalThis.PublicKeyCredential ?? {}, { isConditionalMediationAvailable: isAvailable });
}

/** Has the fields of a page suggest no passkey from now on; one that is there has done so by now. */
export async function withoutSuggestions(page: Page): Promise<void> {
  await page.evaluateOnNewDocument(suggestNothing);
  await page.evaluate(suggestNothing);
}

/** An authenticator whose person is there and verified. A passkey made in one window is there in the next. */
export function createPasskeys(
  known = new Map<string, Protocol.WebAuthn.Credential>(),
  { picksSuggestions = false } = {},
): Passkeys {
  let last: { session: CDPSession; authenticatorId: string } | undefined;
  const passkeys: Passkeys = {
    signalled: { renamed: [], deleted: [] },
    async attach(page) {
      const session = await page.createCDPSession();
      // Headless windows have no focus of their own, without which no passkey is asked.
      await session.send('Emulation.setFocusEmulationEnabled', { enabled: true });
      await session.send('WebAuthn.enable');
      if (!picksSuggestions) await withoutSuggestions(page);
      const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      for (const credential of known.values()) {
        await session.send('WebAuthn.addCredential', { authenticatorId, credential });
      }
      session.on('WebAuthn.credentialAdded', ({ credential }) => known.set(credential.credentialId, credential));
      session.on('WebAuthn.credentialUpdated', ({ credential }) => {
        passkeys.signalled.renamed.push(`${urlSafe(credential.credentialId)} ${credential.userName}`);
      });
      session.on('WebAuthn.credentialDeleted', ({ credentialId }) => {
        passkeys.signalled.deleted.push(urlSafe(credentialId));
      });
      last = { session, authenticatorId };
    },
    ids: () => Array.from(known.keys(), urlSafe),
    rpIds: () => Array.from(known.values(), ({ rpId = '' }) => rpId),
    key: () => passkeys.twin().key,
    twin() {
      const [{ privateKey = '' } = {}, ...others] = known.values();
      if (others.length > 0) throw new Error('several passkeys');
      const secret = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' });
      return createPasskey(
        undefined,
        Hex.fromBytes(Buffer.from(secret.export({ format: 'jwk' }).d ?? '', 'base64url')),
      );
    },
    async allow(isAllowed) {
      if (!last) throw new Error('no window has these passkeys');
      const { session, authenticatorId } = last;
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: isAllowed });
    },
    only: (place) => createPasskeys(new Map([...known].slice(place, place + 1))),
    suggested: () => createPasskeys(known, { picksSuggestions: true }),
  };
  return passkeys;
}

/** Passkeys of which one was made before, on loopback: no page has seen it. */
export function createHeldPasskey(): Passkeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [credentialId, userHandle] = [16, 32].map((size) => randomBytes(size).toString('base64')) as [string, string];
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const about = { isResidentCredential: true, rpId: 'localhost', signCount: 0 };
  return createPasskeys(new Map([[credentialId, { credentialId, userHandle, privateKey: secret, ...about }]]));
}

/** Chromium writes ids in base64, WebAuthn in base64url. */
function urlSafe(id: string): string {
  return id.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
