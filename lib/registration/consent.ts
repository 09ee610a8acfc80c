import { fromHex } from '../base/bytes.ts';
import type { AccountKey } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { uint256Word } from '../chain/contract-call.ts';
import type { Platform } from '../platform.ts';
import { expectedOf, type GivenProof, type OpenedProof, openProof, type ProvenRequest, verifyProof } from './proof.ts';
import { proofInvalid } from './proof-fault.ts';

/** An opened proof that its account's key has signed. */
export type SignedProof = OpenedProof & Required<Pick<OpenedProof, 'key'>>;

type Ctx = Pick<Platform, 'config' | 'clock'> & { readonly predict: PredictAddress };

/**
 * Opens a request's proof and verifies it with a key whose account is the request's, so that the account need not exist
 * yet. Throws 400 and 403 as `openProof`, 403 `proof_invalid`, 502 `rpc_error` when the account cannot be predicted.
 */
export async function openWithKey(
  ctx: Ctx,
  request: ProvenRequest,
  given: GivenProof,
  key: AccountKey,
): Promise<SignedProof> {
  const opened = openProof(ctx, request, given, ctx.clock.now());
  const { smartAccount } = opened;
  if ((await ctx.predict(key)).toLowerCase() !== smartAccount) throw proofInvalid('account', ctx.config);
  const [x, y] = [uint256Word(key.x), uint256Word(key.y)];
  const point = { x: fromHex(x) as Uint8Array, y: fromHex(y) as Uint8Array };
  const fault = await verifyProof(opened, expectedOf(ctx, request, smartAccount), point);
  if (fault) throw proofInvalid(fault, ctx.config);
  return { ...opened, key: `0x${x}${y}` };
}
