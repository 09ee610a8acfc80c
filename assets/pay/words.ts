import type { Nothing, Sign } from '../wallet/judge.ts';
import type { RequestFault } from './request.ts';

/** What went wrong, or how an unpaid payment ended. The word goes to the shop too. */
export type Problem =
  | RequestFault
  | 'no_request'
  | 'ending'
  | 'down'
  | 'unconfirmed'
  | 'refused'
  | 'fee_bound'
  | 'used'
  | 'no_key'
  | Nothing
  | 'other_terms'
  | 'aborted'
  | 'cancelled'
  | 'no_memory'
  | 'unexpected';

const NOTHING = 'Nothing was paid.';
const BACK = 'Go back to the shop and try again.';
const ANEW = 'Ask the shop to start again.';

/** Title and text that the person reads. */
export function wordsOf(problem: Problem): readonly [string, string] {
  const fault = FAULTS[problem];
  if (fault === undefined) return WORDS[problem as keyof typeof WORDS];
  return ['This cannot be paid', `The shop’s request has an error: ${fault}. Nothing was signed.`];
}

const FAULTS: { readonly [Name in Problem]?: string } = {
  no_id: 'the payment id is missing or invalid',
  no_data: 'it does not say what to pay',
  several_data: 'it asks for several payments at once',
  bad_to: 'the payee’s address is missing or invalid',
  bad_checksum: 'an address is misspelt',
  bad_amount: 'the amount is missing or invalid',
  bad_token: 'the token’s address is missing or invalid',
  bad_chain: 'the network is missing or invalid',
  bad_label: 'the label is not text',
  bad_expiry: 'the expiry is not a valid time',
};

const WORDS = {
  no_request: ['There is nothing to pay here', `The shop’s request is gone. ${BACK}`],
  other_chain: ['Wrong network', 'This vault does not support the network that the shop asks for. Nothing was signed.'],
  expired: ['Too late', `The request has expired. ${NOTHING} ${BACK}`],
  ending: ['Too late', `The request ends in less than 90 seconds, too soon to pay it. ${NOTHING} ${BACK}`],
  down: ['The network cannot be reached', 'Try again in a moment.'],
  unconfirmed: ['Not confirmed yet', 'It may still be paid. The same request, asked again, shows what became of it.'],
  fee_bound: [
    'The network fee is too high',
    `It is more than the operator of this vault allows. ${NOTHING} Try again later.`,
  ],
  refused: ['The network refused the payment', NOTHING],
  used: ['This request was used before', 'It cannot be paid twice from your account. Nothing was signed now.'],
  no_key: ['This passkey does not open its account now', 'Nothing was signed.'],
  ended: [NOTHING.slice(0, -1), 'The time of this payment is over, and no block has it. It can no longer be paid.'],
  voided: ['Cancelled', `${NOTHING} The network has cancelled the payment.`],
  reverted: ['The payment failed', `${NOTHING} The network rejected the transfer. ${ANEW}`],
  spent: ['This payment was not made', `Your account used the number of this request for something else. ${ANEW}`],
  other_terms: [
    'This cannot be paid',
    'The shop reused the id of another payment that you approved. Nothing was signed.',
  ],
  aborted: ['The shop withdrew its request', NOTHING],
  cancelled: ['Cancelled', NOTHING],
  no_memory: [
    'This window cannot store data',
    'This page stores each payment, so that it is paid once. Leave private browsing or allow this site to store data.',
  ],
  unexpected: ['Something went wrong', 'Close this window. Check your balance before you try again.'],
} as const;

/** What the person reads of a payment that is not confirmed. */
export const SIGNS: Readonly<Record<Sign | 'taken' | 'refused' | 'lost' | 'voiding' | 'away', string>> = {
  none: 'It may still be paid.',
  taken: 'This takes longer than usual. The payment is on its way.',
  refused: 'The network did not take the payment now. It may still be paid. You can sign it again: it is paid once.',
  lost: 'The payment is signed and may be on its way. You can try again: it is paid once.',
  voiding: 'The cancellation is on its way. If it comes before the payment, nothing is paid.',
  late: 'Its time is over. This page says that nothing was paid once that is final.',
  undone: 'A block has it, and nothing was paid. This page says so once that is final.',
  searching: 'A block has an operation with its number. This page is looking for it.',
  unclear: 'A block has it, but a transfer of this amount cannot be seen here. Ask the shop.',
  away: 'The network cannot be reached. The payment may be on its way. This page goes on looking.',
};
