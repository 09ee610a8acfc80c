import { addressWord, readCode } from '../chain/contract-call.ts';
import type { Config } from '../config/config.ts';
import { type AccountCall, readAccountCalls } from './account-calls.ts';
import { isOwnSender, type SenderReader } from './sponsorship.ts';
import type { UserOperation } from './user-operation.ts';

/** The chain, and the settings that say which calls are sponsored. */
export type CallReader = SenderReader & { readonly config: Rules };
type Rules = Pick<Config, 'usdcAddress' | 'didRegistryAddress' | 'sponsorCalls'>;

/** The most calls of one sponsored operation. */
const CALLS_MAX = 16;

/** The most gas of a sponsored operation: around its calls, and for a call of each kind. */
const GAS_MAX = {
  around: 300_000n,
  ether: 60_000n,
  transfer: 200_000n,
  own: 500_000n,
  registry: 800_000n,
  added: 3_000_000n,
};

type CallKind = Exclude<keyof typeof GAS_MAX, 'around'>;

/** The most `callGasLimit` of an operation's calls. `isEmpty` where it makes none. */
export interface SponsoredCalls {
  readonly gas: bigint;
  readonly isEmpty: boolean;
}

/**
 * Reads the calls of an operation, or says why one of them is not sponsored: it is not on the list, or sends ether to a
 * contract, which could do anything with the gas. Throws 502 `rpc_error`.
 */
export async function readSponsoredCalls(
  chain: CallReader,
  { sender, callData = '0x' }: UserOperation,
): Promise<SponsoredCalls | string> {
  const { config } = chain;
  const isAny = config.sponsorCalls.some((added) => added === '*');
  const calls = readAccountCalls(sender, String(callData));
  if (calls === undefined)
    return isAny ? gasOf(['added']) : 'not sponsored: this vault cannot read what the operation does';
  if (calls.length > CALLS_MAX) return `not sponsored: more than ${CALLS_MAX} calls`;
  const account = sender.toLowerCase();
  if (isAny) return gasOf(calls.map(() => 'added'));
  const kinds = calls.map((call) => kindOf(config, account, call));
  const denied = calls[kinds.indexOf(undefined)];
  if (denied) return `not sponsored: a call of ${denied.data.slice(0, 10)} of ${denied.to}`;
  const payees = new Set(calls.flatMap(({ to }, at) => (kinds[at] === 'ether' && to !== account ? [to] : [])));
  const isPayable = await Promise.all(Array.from(payees, async (to) => ({ to, can: await canTakeEther(chain, to) })));
  const contract = isPayable.find(({ can }) => !can);
  if (contract) return `not sponsored: ether for the contract ${contract.to}`;
  return gasOf(kinds as CallKind[]);
}

function gasOf(kinds: readonly CallKind[]): SponsoredCalls {
  const gas = kinds.reduce((sum, kind) => sum + GAS_MAX[kind], GAS_MAX.around);
  return { gas, isEmpty: kinds.length === 0 };
}

/** An address without code, one that is delegated by EIP-7702, or an account whose code is known. */
async function canTakeEther(chain: CallReader, to: string): Promise<boolean> {
  const code = await readCode(chain, to);
  return code === '0x' || DELEGATION.test(code) || isOwnSender(chain, { sender: to, nonce: '0x0' });
}

const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

/** Why a call is on the list: by itself, or since `SPONSOR_CALLS` names it. */
function kindOf(config: Rules, account: string, call: AccountCall): CallKind | undefined {
  const { to, value, data } = call;
  const selector = data.slice(0, 10);
  const isAdded = config.sponsorCalls.some(
    (added) => added !== '*' && added.to === to && (added.selector ?? selector) === selector,
  );
  if (isAdded) return 'added';
  if (data === '0x') return value > 0n || to === account ? 'ether' : undefined;
  if (value !== 0n) return undefined;
  if (to === account) return OWN.has(selector) ? 'own' : undefined;
  if (to === config.didRegistryAddress?.toLowerCase()) return REGISTRY.has(selector) ? 'registry' : undefined;
  return to === config.usdcAddress?.toLowerCase() && isTransfer(data) ? 'transfer' : undefined;
}

/** Exactly `transfer(address,uint256)`. */
function isTransfer(data: string): boolean {
  return (
    data.startsWith(TRANSFER) &&
    data.length === 10 + 128 &&
    data.slice(10, 74) === addressWord(`0x${data.slice(34, 74)}`)
  );
}

const TRANSFER = '0xa9059cbb';
/** An account's own functions: keys, guardian, recovery. Not its upgrade, which may run any code. */
const OWN: ReadonlySet<string> = new Set([
  '0xff0e1e43', // addKey(uint256,uint256,bytes32)
  '0xad2f5ce2', // removeKey(uint8,uint256,uint256)
  '0x4d2df66c', // nameKey(uint8,bytes32)
  '0x384d8fe3', // setGuardian(address,uint32,bytes32)
  '0x0ba234d6', // cancelRecovery()
  '0x04da66d8', // vetoRecovery(bytes)
  '0xc7423803', // finishRecovery()
]);
/** The calls of a DID's own controller, of both registries. */
const REGISTRY: ReadonlySet<string> = new Set([
  '0x0e5ceb47', // register(bytes32,bytes32,string)
  '0x6d31e582', // registerSelf(bytes32,string)
  '0x3be52cf2', // claimDid(bytes32,bytes32,bytes32,string)
  '0x18b4b7cc', // voidOwn(bytes32)
  '0xdd5b64de', // update(bytes32,string)
  '0x22eee84c', // deactivate(bytes32)
  '0xd585db95', // offerDid(bytes32,address)
  '0x7d353061', // acceptDid(bytes32)
  '0xccc850bf', // moveDid(bytes32,uint256,address,bytes)
  '0xa2035f45', // commitAlias(bytes32)
  '0x8786ca65', // claimAlias(bytes32,bytes32)
  '0x010016fe', // pointAlias(bytes32)
  '0x15802fdd', // freeAlias(bytes32)
]);
