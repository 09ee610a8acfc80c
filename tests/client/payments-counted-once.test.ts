import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  AUTHORIZATION_USED,
  BEFORE_EXECUTION,
  hasTransfer,
  type ReceiptLog,
  TRANSFER_EVENT,
  USER_OPERATION_EVENT,
} from '../../client/operations.ts';
import { soughtAuthorization, soughtOperation } from '../../client/payment-search.ts';
import { always } from '../support/property.ts';

// Drawn transactions of one payer: transfers, authorizations, and bundles in bundles of other EntryPoints. Each
// operation and each authorization names an order of its own.

const ENTRY_POINTS = ['0x0000000071727de22e5e9d8baf0edac6f37da032', '0x4337084d9e255ff0702461cf8895ce9e3b5ff108'];
const [PAYER, SHOP, OTHER, USDC] = ['a1', 'b2', 'c3', 'd4'].map((byte) => `0x${byte.repeat(20)}`) as [
  string,
  string,
  string,
  string,
];
const AMOUNT = 1_250_000n;

type Step =
  | { readonly kind: 'transfer' | 'authorization'; readonly to: string; readonly amount: bigint }
  | { readonly kind: 'bundle'; readonly at: number; readonly operations: readonly (readonly Step[])[] };

const movement = fc.record({
  kind: fc.constantFrom('transfer' as const, 'authorization' as const),
  to: fc.constantFrom(SHOP, SHOP, OTHER),
  amount: fc.constantFrom(AMOUNT, AMOUNT, 1n),
});
const { step } = fc.letrec<{ step: Step }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    movement,
    fc.record({
      kind: fc.constant('bundle' as const),
      at: fc.nat(1),
      operations: fc.array(fc.array(tie('step'), { maxLength: 3 }), { minLength: 1, maxLength: 2 }),
    }),
  ),
}));

const word = (value: bigint) => value.toString(16).padStart(64, '0');
const topic = (value: string) => `0x${word(BigInt(value))}`;

/** The logs of the steps, and the numbers of the orders that its operations and its authorizations name. */
function play(steps: readonly Step[]) {
  const logs: ReceiptLog[] = [];
  const orders = { operation: [] as number[], authorization: [] as number[] };
  let count = 0;
  const run = (step: Step, inside: readonly number[]) => {
    if (step.kind === 'bundle') return bundle(step, inside);
    if (step.kind === 'authorization') {
      orders.authorization.push(++count);
      const topics = [AUTHORIZATION_USED, topic(PAYER), `0x${word(BigInt(count))}`];
      logs.push({ address: USDC, topics, data: '0x' });
    }
    const topics = [TRANSFER_EVENT, topic(PAYER), topic(step.to)];
    logs.push({ address: USDC, topics, data: `0x${word(step.amount)}` });
  };
  const bundle = ({ at, operations }: Extract<Step, { kind: 'bundle' }>, inside: readonly number[]) => {
    // An EntryPoint cannot be entered again.
    if (inside.includes(at)) return;
    const address = ENTRY_POINTS[at] ?? '';
    logs.push({ address, topics: [BEFORE_EXECUTION], data: '0x' });
    for (const inner of operations) {
      const order = ++count;
      for (const one of inner) run(one, [...inside, at]);
      const topics = [USER_OPERATION_EVENT, `0x${word(BigInt(order))}`, topic(PAYER), topic('0x0')];
      logs.push({ address, topics, data: `0x${word(BigInt(order))}${word(1n)}${word(0n)}${word(0n)}` });
      orders.operation.push(order);
    }
  };
  for (const one of steps) run(one, []);
  return { logs, orders };
}

const PAYMENT = { token: USDC, from: PAYER, to: SHOP, amount: AMOUNT };
const isPayment = (log: ReceiptLog) => hasTransfer([log], PAYMENT);

test('as many orders are paid as there are transfers at most, and each authorization by its own', () => {
  const seen = { operation: 0, authorization: 0 };
  const claim = { txHash: undefined, account: PAYER };
  always(fc.array(step, { maxLength: 4 }), (steps) => {
    const { logs, orders } = play(steps);
    const isPaid = ({ settled }: ReturnType<ReturnType<typeof soughtOperation>['read']>) =>
      settled !== undefined && hasTransfer(settled.logs, PAYMENT);
    const byOperation = orders.operation.filter((order) => {
      const sought = soughtOperation({ ...claim, userOpHash: `0x${word(BigInt(order))}` }, BigInt(order), ENTRY_POINTS);
      return isPaid(sought.read(logs));
    });
    const byAuthorization = orders.authorization.filter((order) =>
      isPaid(soughtAuthorization({ ...claim, by: 'authorization' }, `0x${word(BigInt(order))}`, USDC).read(logs)),
    );
    const isUsed = ({ topics }: ReceiptLog) => topics[0] === AUTHORIZATION_USED;
    const authorized = logs.filter((log, at) => isPayment(log) && at > 0 && isUsed(logs[at - 1] as ReceiptLog));
    expect(byAuthorization.length).toBe(authorized.length);
    expect(byOperation.length + byAuthorization.length).toBeLessThanOrEqual(logs.filter(isPayment).length);
    seen.operation += byOperation.length;
    seen.authorization += byAuthorization.length;
  });
  // What was drawn has payments of both kinds.
  expect(Math.min(seen.operation, seen.authorization)).toBeGreaterThan(10);
});
