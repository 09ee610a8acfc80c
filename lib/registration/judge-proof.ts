import { fromHex } from '../base/bytes.ts';
import { toQuantity } from '../chain/contract-call.ts';
import { readableBlock } from '../chain/finality.ts';
import { readShownKeys, type ShownKeys } from '../chain/owner-keys.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { P256PublicKey } from '../identity/passkey.ts';
import { type OpenedProof, storedProof, verifyProof } from './proof.ts';
import type { RegistrationClaim } from './store.ts';

/** `none`: the claim brought no proof. `keyless`: the controller shows no key to judge it by. */
export type ProofVerdict = 'none' | 'keyless' | 'verified' | 'account' | 'signature';

/** The verdict on a claim's proof. */
export interface Judgement {
  readonly proof: ProofVerdict;
  /** The key that signed; null unless it is verified. */
  readonly signer: string | null;
  /** The key came after the registration's block: it counts once the account has it in a final block. */
  readonly isLate: boolean;
}

/** The registry's event: the account that it names, the DID's present controller, 0x-hex, lower-case, and its block. */
export interface RegisteredEvent {
  readonly givenTo: `0x${string}`;
  readonly controller: `0x${string}`;
  readonly block: number;
  readonly blockHash: string;
}

type Ctx = ChainReader<'didRegistryAddress'>;

/** The keys of a controller now; of an account that need not exist yet, that of its address. Throws 502 `rpc_error`. */
export async function readControllerKeys(
  ctx: Ctx,
  { proof }: RegistrationClaim,
  controller: string,
): Promise<ShownKeys> {
  const shown = await readShownKeys(ctx, controller);
  const opened = storedProof(proof);
  if (shown.isSeveral || shown.keys.length > 0 || opened?.key === undefined || opened.smartAccount !== controller)
    return shown;
  return { keys: [opened.key], isSeveral: opened.kind === 2 };
}

/**
 * Judges a claim's proof by a key that its controller has now, or had at the registration's block if that is recent: a
 * key that was removed long ago proves nothing new. Throws 502 `rpc_error`.
 */
export async function judgeProof(
  ctx: Ctx,
  claim: RegistrationClaim,
  { controller, givenTo, block }: RegisteredEvent,
  shown: ShownKeys,
  isRecent: boolean,
): Promise<Judgement> {
  const { chainId, didRegistryAddress: registry } = ctx.config;
  const opened = storedProof(claim.proof);
  if (!opened || !registry) return unsigned('none');
  if (opened.smartAccount !== controller && opened.smartAccount !== givenTo) return unsigned('account');
  const expected = { ...claim, chainId, registry, controller: opened.smartAccount };
  const now = await findSigner(opened, expected, shown.keys);
  // It was moved: the proof of before counts while its key is one of the new controller, and refutes nothing.
  if (opened.smartAccount !== controller)
    return now === null ? unsigned('none') : { proof: 'verified', signer: now, isLate: false };
  if (shown.keys.length === 0 && !shown.isSeveral) return unsigned('keyless');
  if (!shown.isSeveral) return now === null ? unsigned('signature') : { proof: 'verified', signer: now, isLate: false };
  // Empty where the node no longer has that state: then the key must be there at a final block.
  const { keys: before } = await readShownKeys(ctx, controller, toQuantity(block));
  if (now !== null) return { proof: 'verified', signer: now, isLate: !before.includes(now) };
  const then = isRecent ? await findSigner(opened, expected, before) : null;
  return then === null ? unsigned('signature') : { proof: 'verified', signer: then, isLate: false };
}

/** Whether an account has the key at the final block. Throws 502 `rpc_error`. */
export async function hasKeyAt(ctx: ChainReader, account: string, key: string, block: number): Promise<boolean> {
  const { keys } = await readShownKeys(ctx, account, toQuantity(Math.max(0, await readableBlock(ctx, account, block))));
  return keys.includes(key);
}

function unsigned(proof: Exclude<ProofVerdict, 'verified'>): Judgement {
  return { proof, signer: null, isLate: false };
}

async function findSigner(
  opened: OpenedProof,
  expected: Parameters<typeof verifyProof>[1],
  keys: readonly string[],
): Promise<string | null> {
  for (const key of keys) if ((await verifyProof(opened, expected, pointOf(key))) === undefined) return key;
  return null;
}

function pointOf(key: string): P256PublicKey {
  const bytes = fromHex(key.slice(2)) as Uint8Array;
  return { x: bytes.slice(0, 32), y: bytes.slice(32) };
}
