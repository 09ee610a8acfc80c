import { addressWord } from '../chain/contract-call.ts';
import type { Config } from '../config/config.ts';
import { type AccountCall, readAccountCalls } from './account-calls.ts';
import type { UserOperation } from './user-operation.ts';

type Rules = Pick<Config, 'usdcAddress' | 'didRegistryAddress' | 'sponsorCalls' | 'payMaxFee'>;

/** The most calls of one sponsored operation. */
const CALLS_MAX = 16;

/** The most gas of a sponsored operation: to verify it, around its calls, and for a call of each kind. */
const VERIFICATION_GAS_MAX = 2_000_000n;
const GAS_MAX = { around: 300_000n, transfer: 200_000n, own: 500_000n, registry: 800_000n, added: 3_000_000n } as const;

type CallKind = Exclude<keyof typeof GAS_MAX, 'around'>;

/**
 * Why an operation is not sponsored: a call that is not on the list, or more gas than its calls need; undefined if it
 * is. `given` is what the sponsor answers, which replaces the draft's own.
 */
export function refusalOfCalls(config: Rules, operation: UserOperation, given: unknown = {}): string | undefined {
  const kinds = kindsOf(config, operation);
  if (typeof kinds === 'string') return kinds;
  const gas = (name: string) => quantity((given as Record<string, unknown> | null)?.[name] ?? operation[name]);
  const callGas = GAS_MAX.around + kinds.reduce((sum, kind) => sum + GAS_MAX[kind], 0n);
  if ((gas('callGasLimit') ?? 0n) > callGas) return `not sponsored: callGasLimit is above ${callGas}`;
  if ((gas('verificationGasLimit') ?? 0n) > VERIFICATION_GAS_MAX)
    return `not sponsored: verificationGasLimit is above ${VERIFICATION_GAS_MAX}`;
  const whole = GAS_LIMITS.reduce((sum, name) => sum + (gas(name) ?? 0n), 0n);
  if (whole * (gas('maxFeePerGas') ?? 0n) > config.payMaxFee)
    return 'not sponsored: it may cost more than the operator’s PAY_MAX_FEE';
  return undefined;
}

const GAS_LIMITS = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'paymasterVerificationGasLimit',
  'paymasterPostOpGasLimit',
];

/** A number of the draft or of the sponsor's answer, which may hold anything; undefined for what is none. */
function quantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined;
}

/** The kinds of an operation's calls, or why one of them is not sponsored. */
function kindsOf(config: Rules, { sender, callData = '0x' }: UserOperation): readonly CallKind[] | string {
  const isAny = config.sponsorCalls.some((added) => added === '*');
  const calls = readAccountCalls(sender, String(callData));
  if (calls === undefined) return isAny ? ['added'] : 'not sponsored: this vault cannot read what the operation does';
  if (calls.length > CALLS_MAX) return `not sponsored: more than ${CALLS_MAX} calls`;
  const kinds = calls.map((call) => kindOf(config, sender.toLowerCase(), call) ?? (isAny ? 'added' : undefined));
  const denied = calls[kinds.indexOf(undefined)];
  if (denied) return `not sponsored: a call of ${denied.data.slice(0, 10)} of ${denied.to}`;
  return kinds as CallKind[];
}

/** Why a call is on the list: by itself, or since `SPONSOR_CALLS` names it. */
function kindOf(config: Rules, account: string, call: AccountCall): CallKind | undefined {
  const { to, value, data } = call;
  const selector = data.slice(0, 10);
  const isAdded = config.sponsorCalls.some(
    (added) => added !== '*' && added.to === to && (added.selector ?? selector) === selector,
  );
  if (isAdded) return 'added';
  if (data === '0x') return value > 0n || to === account ? 'transfer' : undefined;
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
/** What a DID's own controller calls, of both registries. */
const REGISTRY: ReadonlySet<string> = new Set([
  '0x0e5ceb47', // register(bytes32,bytes32,string)
  '0x6d31e582', // registerSelf(bytes32,string)
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
