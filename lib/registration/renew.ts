import { withRow } from '../db/row-lock.ts';
import { publicKeyOf } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import type { Authorization, RegistrationSubject } from './claim.ts';
import { readOpenKeys } from './open-keys.ts';
import { expectedOf, type GivenProof, openProof, proofText, verifyProof } from './proof.ts';
import { proofInvalid } from './proof-fault.ts';
import { renewClaim } from './renew-store.ts';
import type { Registration } from './store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

/** A claim of an address by the DID that holds it, while another DID has claimed it. */
export interface RenewalRequest extends RegistrationSubject {
  readonly smartAccount?: string;
  readonly proof?: GivenProof;
}

/** A proof by a key that the holder's account has now. */
export interface Renewal {
  readonly holder: Registration;
  readonly proof: string;
  readonly proofKey: string;
}

/**
 * The renewal that a request is, if it comes from the DID that holds the address while another has claimed it: code and
 * passkey together, since a thief in the mailbox lacks the passkey, and a former owner of a number the code. `spend` as
 * for `recordRegistration`. Throws 403 `proof_invalid`, 502 `rpc_error`.
 */
export async function openRenewal(
  ctx: Ctx,
  request: RenewalRequest,
  { signature }: Authorization,
  contenders: readonly Registration[],
  spend: () => void,
): Promise<Renewal | undefined> {
  const { identifier, did, proof, smartAccount } = request;
  const ofIdentifier = contenders.filter((one) => one.identifier === identifier.key);
  const holder = ofIdentifier.find(({ isHolder }) => isHolder);
  const isSlowHere = ctx.config.addressMoveHours > 0;
  if (!isSlowHere || proof === undefined || holder?.did !== did || !isSlow(holder)) return undefined;
  if (!ofIdentifier.some((one) => isChallenger(one, holder))) return undefined;
  spend();
  const opened = openProof(ctx, { ...request, smartAccount, attestationSignature: signature }, proof, ctx.clock.now());
  const account = holder.controller ?? '';
  if (opened.smartAccount !== account) throw proofInvalid('account', ctx.config);
  const keys = (await readOpenKeys(ctx, { did, account, isConfirmed: true })) ?? [holder.proofKey ?? ''];
  const expected = expectedOf(ctx, request, account);
  for (const proofKey of keys) {
    const point = publicKeyOf(proofKey);
    const isSigned = point && (await verifyProof(opened, expected, point)) === undefined;
    if (isSigned) return { holder, proof: proofText(opened), proofKey };
  }
  throw proofInvalid('signature', ctx.config);
}

/** Whether an address moves slowly while this registration holds it. */
function isSlow({ isFinal, proofKey, isActive, channel }: Registration): boolean {
  return isFinal && proofKey !== null && isActive && channel !== 'handle';
}

function isChallenger({ id, did, status, lost, proof }: Registration, holder: Registration): boolean {
  return id > holder.id && did !== holder.did && status !== 'failed' && lost === null && proof !== null;
}

/**
 * Replaces attestation, time and proof of the holder's row, and ends the other claims on its address. False where the
 * row has changed meanwhile, or the attestation was used.
 */
export async function writeRenewal(
  ctx: Ctx,
  { holder, proof, proofKey }: Renewal,
  authorization: Authorization,
  client: string,
): Promise<boolean> {
  return withRow(
    ctx,
    holder.identifier,
    async (fence) => {
      const renewed = { id: holder.id, identifier: holder.identifier, proof, proofKey, attestation: authorization };
      const [verdict] = await ctx.db.write(...renewClaim(renewed, fence, ctx.clock.now()));
      return verdict?.rowsAffected === 1;
    },
    client,
  );
}
