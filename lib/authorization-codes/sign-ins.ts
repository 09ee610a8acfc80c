// The records of a sign-in: a row for the person, and an event for the audit.
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { Statement } from '../db/database.ts';
import { eventOf, maskClient, maskCredential } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { insertRefused, insertSignIn, selectRefused } from './sign-ins-store.ts';

/** A request to sign in: the app, the caller's address and the passkey. */
export interface SignInRequest {
  readonly app: string;
  readonly client: string;
  readonly credentialId: string;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'log'>;

/** The statements before that of the code: none where nothing is kept, and no second row for the same evidence. */
export function noteSignIn(
  { config, clock }: Pick<Ctx, 'config' | 'clock'>,
  { did, proof, ...request }: SignInRequest & { readonly did: string; readonly proof: string },
): readonly Statement[] {
  if (config.keepSigninsDays === 0) return [];
  const kept = { ...keptOf(request, clock.now()), did };
  const data = { did, credential: maskCredential(kept.credentialId), network: kept.network };
  const event = eventOf('signin.succeeded', { app: kept.app, at: kept.at }, data);
  return [insertSignIn(kept, proof), emitEvent(event, { ifChanged: true })];
}

/**
 * Keeps that a sign-in with a registered credential was refused: of unknown ones anybody could write as many as they
 * like. Failures of the vault's own, and of this, are not the caller's.
 */
export async function noteRefused({ config, clock, db, log }: Ctx, request: SignInRequest, error: unknown) {
  if (config.keepSigninsDays === 0 || !(error instanceof VaultError) || !REFUSALS.includes(error.code)) return;
  const kept = keptOf(request, clock.now());
  const reason = error.details.reason ?? error.code;
  try {
    // A flood costs reads, not writes.
    const [known] = await db.read(selectRefused(kept));
    if (!known) return;
    const did = String(known['did']);
    const data = { did, credential: maskCredential(kept.credentialId), network: kept.network, reason };
    const event = eventOf('signin.refused', { app: kept.app, at: kept.at }, data);
    await db.write(insertRefused({ ...kept, did }, reason), emitEvent(event, { ifChanged: true }));
  } catch (fault) {
    log({ level: 'warn', event: 'sign_in_not_kept', ...describeError(fault) });
  }
}

const REFUSALS: readonly string[] = ['proof_invalid', 'attestation_invalid', 'attestation_expired', 'not_found'];

function keptOf({ app, client, credentialId }: SignInRequest, at: number) {
  return { at, app, credentialId, network: maskClient(client) };
}
