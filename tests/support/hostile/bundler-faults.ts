import { Hex } from 'ox';
import type { Draw } from '../draw.ts';

/** What a bundler does with an operation (includes it after so many milliseconds, or never) and what it says. */
export interface Plan {
  readonly name: string;
  readonly does: number | undefined;
  readonly says: 'yes' | 'no' | 'nothing' | 'other';
}

const SOON_MS = 5_000;
/** Up to long after anything signed for ten minutes has ended. */
const LATE_MS_MAX = 1_800_000;

/** The ways of being false. */
export const PLANS: readonly (Omit<Plan, 'does'> & { readonly does: number | 'late' | undefined })[] = [
  { name: 'yes, and drops', does: undefined, says: 'yes' },
  { name: 'yes, late', does: 'late', says: 'yes' },
  { name: 'yes, of another hash', does: SOON_MS, says: 'other' },
  { name: 'no, and drops', does: undefined, says: 'no' },
  { name: 'no, and includes', does: SOON_MS, says: 'no' },
  { name: 'no, and includes late', does: 'late', says: 'no' },
  { name: 'silent, and drops', does: undefined, says: 'nothing' },
  { name: 'silent, and includes', does: SOON_MS, says: 'nothing' },
  { name: 'silent, and includes late', does: 'late', says: 'nothing' },
];

/** One of them that was not chosen yet, while there is one; then any. */
export function plan(draw: Draw, isChosen: (name: string) => boolean): Plan {
  const late = 20_000 + draw.below(LATE_MS_MAX);
  const owed = PLANS.filter(({ name }) => !isChosen(name));
  const from = owed.length > 0 ? owed : PLANS;
  const { does, ...one } = from[draw.below(from.length)] as (typeof PLANS)[number];
  return { ...one, does: does === 'late' ? late : does };
}

const REFUSALS: readonly (readonly [number, string])[] = [
  [-32500, 'UserOperation reverted during simulation with reason: AA10 sender already constructed'],
  [-32500, 'UserOperation reverted during simulation with reason: AA25 invalid account nonce'],
  [-32500, 'AA21 didn’t pay prefund'],
  [-32503, 'AA22 expired or not due'],
  [-32507, 'AA24 signature error'],
  [-32501, 'paymaster unknown: policy not found'],
  [-32504, 'throttled: unknown sender'],
  [-32602, 'maxFeePerGas too low'],
  [-32603, 'unknown error'],
  [-32000, 'already known'],
  [-32602, 'Invalid fields set on User Operation: already present in mempool'],
  [-32521, 'execution reverted'],
  [-32603, 'duplicate'],
];

/** An error of any sort, whatever became of the operation. */
export function refusalFor(draw: Draw): object {
  const [code, message] = REFUSALS[draw.below(REFUSALS.length)] ?? [-32603, 'no'];
  return { code, message };
}

/** Silence, an error, nothing where there is something, or the receipt of what never was. */
export function strangeReceipt(draw: Draw, truth: object | null, asked: Hex.Hex): object | undefined {
  const hash = draw.below(2) === 0 ? asked : Hex.random(32);
  const invented = { userOpHash: hash, success: true, logs: [], receipt: { transactionHash: Hex.random(32) } };
  const strange: readonly (object | undefined)[] = [
    undefined,
    { error: { code: -32603, message: 'internal error' } },
    { result: null },
    { result: invented },
    { result: truth ? { ...truth, success: !(truth as { success: boolean }).success } : invented },
  ];
  return strange[draw.below(strange.length)];
}
