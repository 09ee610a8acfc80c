import { fromHex } from '../base/bytes.ts';
import type { AccountKey, AccountKind } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { factoryOf } from '../chain/account-factory.ts';
import { keyInCode } from '../chain/account-key.ts';
import { uint256Word } from '../chain/contract-call.ts';
import { isUpgraded } from '../chain/guarded-account.ts';
import { readShownKeys } from '../chain/owner-keys.ts';
import type { Platform } from '../platform.ts';
import { expectedOf, type GivenProof, type OpenedProof, openProof, type ProvenRequest, verifyProof } from './proof.ts';
import { proofInvalid } from './proof-fault.ts';

/** An opened proof that a key of its account has signed. */
export type SignedProof = OpenedProof & Required<Pick<OpenedProof, 'key' | 'kind'>>;

type Ctx = Pick<Platform, 'config' | 'clock' | 'rpc'> & { readonly predict: PredictAddress };

/**
 * Opens a request's proof and verifies it with a key of the request's account, which need not exist yet. Throws 400 and
 * 403 as `openProof`, 403 `proof_invalid`, 502 `rpc_error` when it cannot be told whether the key is the account's.
 */
export async function openWithKey(
  ctx: Ctx,
  request: ProvenRequest,
  given: GivenProof,
  key: AccountKey,
): Promise<SignedProof> {
  const opened = openProof(ctx, request, given, ctx.clock.now());
  const { smartAccount } = opened;
  const kind = await findKind(ctx, key, smartAccount);
  if (kind === undefined) throw proofInvalid('account', ctx.config);
  const [x, y] = [uint256Word(key.x), uint256Word(key.y)];
  const point = { x: fromHex(x) as Uint8Array, y: fromHex(y) as Uint8Array };
  const fault = await verifyProof(opened, expectedOf(ctx, request, smartAccount), point);
  if (fault) throw proofInvalid(fault, ctx.config);
  return { ...opened, key: keyText(key), kind };
}

/** A key as it is stored: 0x and x ‖ y in hex. */
export function keyText({ x, y }: Pick<AccountKey, 'x' | 'y'>): string {
  return `0x${uint256Word(x)}${uint256Word(y)}`;
}

/**
 * The kind of the account if it is one of a configured factory, and the key is its own: the one that its address
 * follows from, and once an account of the second kind is there, any that it has now, as long as its code is the
 * factory's.
 */
async function findKind(
  { config, rpc, predict }: Ctx,
  key: AccountKey,
  account: string,
): Promise<AccountKind | undefined> {
  const isSecondOffered = factoryOf(config, 2) !== null;
  const isAt = async (of: AccountKey, kind: AccountKind) => (await predict(of, kind)).toLowerCase() === account;
  if ((factoryOf(config, 1) !== null || !isSecondOffered) && (await isAt(key, 1))) return 1;
  if (!isSecondOffered) return undefined;
  const [code, { keys }] = await Promise.all([
    rpc.call(config.chainId, 'eth_getCode', [account, 'latest']),
    readShownKeys({ config, rpc }, account),
  ]);
  if (code === '0x') return (await isAt(key, 2)) ? 2 : undefined;
  const found = keyInCode(String(code));
  const isOwner = keys.includes(keyText(key));
  // Other code can make the registrar pay any amount of gas to ask for its keys.
  if (await isUpgraded({ config, rpc }, account)) return undefined;
  return isOwner && found?.kind === 2 && (await isAt(found.key, 2)) ? 2 : undefined;
}
