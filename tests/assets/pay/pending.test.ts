import { describe, expect, test } from 'bun:test';
import { EndedError } from '../../../assets/pay/pay.ts';
import { pendingOf, troubleOf } from '../../../assets/pay/pending.ts';
import { LacksError } from '../../../assets/pay/renew.ts';
import type { Answer, StoredPayment } from '../../../assets/pay/store.ts';
import { judge } from '../../../assets/wallet/judge.ts';
import english from '../../../assets/words/en/pay.json' with { type: 'json' };
import { NoAccountError } from '../../../client/wallet/account.ts';
import type { Operation } from '../../../client/wallet/operation.ts';
import { PasskeyError } from '../../../client/wallet/passkey.ts';
import { FeeBoundError } from '../../../client/wallet/send.ts';
import { RefusedError, UnreachableError } from '../../../client/wallet/vault.ts';
import { type OutcomeName, recordedOf } from '../../support/pay-page/outcomes.ts';
import { paymentRecord } from '../../support/payment-record.ts';

// As `loadWords` keeps them.
Object.assign((globalThis as unknown as { vaultWords: object }).vaultWords, { words: english });

const TAKEN: Answer = { is: 'taken', words: '', aa: '' };
const REFUSED: Answer = { is: 'refused', words: 'throttled', aa: '' };
const LOST: Answer = { is: 'lost', words: '502', aa: '' };
const minutes = (count: number) => Date.now() + count * 60_000;

/** The record of the payment that an outcome is about, as the page keeps it. */
function recordOf(name: OutcomeName, more: Partial<StoredPayment> = {}): StoredPayment {
  const { about, outcome } = recordedOf(name);
  const userOpHash = about.userOpHash as `0x${string}`;
  const kind = name.startsWith('void') ? 'void' : 'pay';
  return paymentRecord({
    state: 'unconfirmed',
    entryPoint: outcome.entryPoint as `0x${string}`,
    token: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    since: about.since,
    endsBy: minutes(4),
    versions: [{ kind, userOpHash, validUntil: about.end, operation: {} as Operation }],
    answer: TAKEN,
    ...more,
  });
}
const voided = (record: StoredPayment): StoredPayment => {
  const operation = {} as Operation;
  const empty = { kind: 'void', userOpHash: `0x${'cd'.repeat(32)}`, operation } as const;
  return { ...record, versions: [...record.versions, empty] };
};
/** The screen of a recorded outcome: its words without the end, and its buttons. */
function screenOf(name: OutcomeName, isSlow: boolean, record = recordOf(name)) {
  const pending = pendingOf(record, judge(record, recordedOf(name).outcome), isSlow);
  if (!pending) return undefined;
  const { words, buttons } = pending;
  return [
    words.replace(/ It (?:ends at|does not end).*/, ''),
    Object.entries(buttons)
      .flatMap(([id, is]) => (is ? [id] : []))
      .join(),
  ];
}

describe('a payment that is not confirmed, by what the vault shows of it', () => {
  test('is on its way, and after some time that takes longer than usual', () => {
    expect(screenOf('open', false)).toBeUndefined();
    expect(screenOf('open', true)).toEqual([
      'This takes longer than usual. The payment is on its way.',
      'again,raise,void',
    ]);
  });

  test.each([
    ['late', 'Time is up. We are checking that nothing was paid.'],
    ['voiding', 'The payment failed, and nothing was paid. We are waiting for the network to make that final.'],
    ['reverting', 'The payment failed, and nothing was paid. We are waiting for the network to make that final.'],
    [
      'searching',
      'The network has processed something from your account. We are checking whether it was this payment.',
    ],
    ['unclear', 'The network has processed it, but this page cannot see a transfer of this amount. Ask the shop.'],
  ] as const)('%s: nothing can be done, and it is said what is seen', (name, words) => {
    for (const isSlow of [false, true])
      for (const answer of [TAKEN, REFUSED, LOST])
        expect(screenOf(name, isSlow, recordOf(name, { answer }))).toEqual([words, '']);
  });

  test.each(['paid', 'final', 'voided', 'reverted', 'ended'] as const)('%s: it is decided', (name) => {
    const record = recordOf(name);
    expect(judge(record, recordedOf(name).outcome).is).toBe(name === 'paid' || name === 'final' ? 'paid' : 'nothing');
  });

  test('the operation and its transaction stand in the details', () => {
    const record = recordOf('reverting');
    const { outcome, about } = recordedOf('reverting');
    expect(pendingOf(record, judge(record, outcome), false)?.detail).toBe(
      `User operation ${about.userOpHash}\nTransaction ${outcome.operation?.txHash}`,
    );
  });
});

describe('by what the bundler says', () => {
  const refused =
    'The network did not take the payment now. It may still be paid. You can sign it again: it is paid once.';

  test('refused: it may still be paid, can be signed again and cancelled, and the words are in the details', () => {
    const record = recordOf('open', { answer: REFUSED });
    expect(screenOf('open', false, record)).toEqual([refused, 'again,void']);
    expect(pendingOf(record, undefined, false)?.detail).toStartWith('throttled\nUser operation 0x');
  });

  test('refused, with too little time to sign again: it can be cancelled', () => {
    expect(screenOf('open', false, recordOf('open', { answer: REFUSED, endsBy: minutes(1) }))).toEqual([
      refused,
      'void',
    ]);
  });

  test('no answer: it may be on its way, and can be sent again at any time', () => {
    const lost = recordOf('open', { answer: LOST, endsBy: minutes(1) });
    expect(screenOf('open', true, lost)).toEqual([
      'The payment is signed and may be on its way. You can try again: it is paid once.',
      'again,void',
    ]);
  });

  test('a cancellation is on its way until a block has one of the two', () => {
    const words = 'The cancellation is on its way. If it comes before the payment, nothing is paid.';
    for (const answer of [TAKEN, REFUSED, LOST])
      expect(screenOf('open', false, voided(recordOf('open', { answer })))).toEqual([words, 'again']);
  });
});

test('the vault does not answer: said once it takes long, and nothing of nothing paid', () => {
  expect(pendingOf(recordOf('open'), undefined, false)).toBeUndefined();
  expect(pendingOf(recordOf('open'), undefined, true)?.words).toStartWith(
    'The network cannot be reached. The payment may be on its way. This page keeps looking. It ends at ',
  );
});

test('what accounts of the first kind sign does not end by itself', () => {
  const [{ validUntil: _, ...endless }] = recordOf('open').versions as [StoredPayment['versions'][0]];
  const record = recordOf('open', { versions: [endless], answer: REFUSED });
  expect(pendingOf(record, undefined, false)?.words).toEndWith(
    'It does not end by itself: cancel it to be sure that it is not paid.',
  );
});

test.each([
  ['Your passkey was not used. Nothing was changed.', new PasskeyError('no passkey')],
  ['The request ends too soon to sign for it again.', new EndedError()],
  ['There is not enough in this account for that.', new LacksError()],
  ['The network cannot be reached. Try again in a moment.', new UnreachableError('away')],
  ['This passkey does not work for this account now. Nothing was signed.', new NoAccountError()],
  [
    'The network fee is too high. It is more than the operator allows here. Nothing was paid. Try again later.',
    new FeeBoundError('Up to 1 ETH'),
  ],
  ['The network answered: AA25 invalid nonce', new RefusedError('AA25 invalid nonce', 'entrypoint_rejected', 'AA25')],
])('trying again may run into: %s', (words, error) => {
  expect(troubleOf(error)).toBe(words);
});
