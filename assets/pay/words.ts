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
  | Nothing
  | 'other_terms'
  | 'aborted'
  | 'cancelled'
  | 'no_memory'
  | 'unexpected';

const NOTHING = 'Nothing was paid.';
const SHOP = 'The shop’s request has an error. Nothing was signed.';

/** Title and text that the person reads. */
export const PROBLEMS: Readonly<Record<Problem, readonly [string, string]>> = {
  no_request: ['There is nothing to pay here', 'The shop’s request is gone. Go back to the shop and ask again.'],
  no_id: ['This cannot be paid', `${SHOP} The payment id is missing or invalid.`],
  no_data: ['This cannot be paid', `${SHOP} It does not say what to pay.`],
  several_data: ['This cannot be paid', `${SHOP} It asks for several payments at once.`],
  bad_to: ['This cannot be paid', `${SHOP} The payee’s address is missing or invalid.`],
  bad_checksum: ['This cannot be paid', `${SHOP} An address is misspelt.`],
  bad_amount: ['This cannot be paid', `${SHOP} The amount is missing or invalid.`],
  bad_token: ['This cannot be paid', `${SHOP} The token’s address is missing or invalid.`],
  bad_chain: ['This cannot be paid', `${SHOP} The network is missing or invalid.`],
  other_chain: [
    'Wrong network',
    'The shop asks for a payment on a network that this vault does not support. Nothing was signed.',
  ],
  bad_label: ['This cannot be paid', `${SHOP} The label is not text.`],
  bad_expiry: ['This cannot be paid', `${SHOP} The expiry is not a valid time.`],
  expired: ['Too late', `The request has expired. ${NOTHING} Go back to the shop and try again.`],
  ending: [
    'Too late',
    `The request ends in less than 90 seconds, too soon to pay it. ${NOTHING} Go back to the shop and try again.`,
  ],
  down: ['The network cannot be reached', 'Try again in a moment.'],
  unconfirmed: [
    'Not confirmed yet',
    'It may still be paid. Before you pay in another way, ask here again: the same request shows what became of it.',
  ],
  fee_bound: [
    'The network fee is too high',
    `It is more than the operator of this vault allows. Nothing was signed. ${NOTHING} Try again later.`,
  ],
  refused: ['The network refused the payment', NOTHING],
  used: [
    'This request was used before',
    'Your account has used the number of this request before. It cannot be paid twice. This device signed nothing now.',
  ],
  ended: ['Nothing was paid', 'The time of this payment is over, and no block has it. It can no longer be paid.'],
  voided: ['Cancelled', `${NOTHING} The network has cancelled the payment.`],
  reverted: ['The payment failed', `${NOTHING} The network rejected the transfer. Ask the shop to start again.`],
  spent: [
    'This payment was not made',
    'Another operation of your account has used the number of this request. Ask the shop to start again.',
  ],
  other_terms: [
    'This cannot be paid',
    'The shop reused the id of another payment that you approved. Nothing was paid for this request.',
  ],
  aborted: ['The shop withdrew its request', NOTHING],
  cancelled: ['Cancelled', NOTHING],
  no_memory: [
    'This window cannot store data',
    `This page stores each payment, so that it cannot be paid twice. Leave private browsing or allow this site to store data. Then try again.`,
  ],
  unexpected: ['Something went wrong', 'Close this window. Check your balance before you try again.'],
};

/** What the person reads of a payment that is not confirmed. */
export const SIGNS: Readonly<Record<Sign | 'taken' | 'refused' | 'lost' | 'voiding' | 'away', string>> = {
  none: 'The network has not confirmed the payment. It may still be paid.',
  taken: 'This takes longer than usual. The payment is on its way. It is never paid twice.',
  refused:
    'The network has not taken the payment. It may still be paid. You can sign it again: it is never paid twice.',
  lost: 'The payment is signed and may be on its way. You can try again: it is never paid twice.',
  voiding: 'The cancellation is on its way. If the network takes it before the payment, nothing is paid.',
  late: 'The time of this payment is over. This page says that nothing was paid once the network is final about it.',
  undone: 'A block shows that nothing was paid. This page says so for good once the network is final about it.',
  searching: 'The network has an operation with the number of this payment. This page is looking for it.',
  unclear: 'The network carried out an operation, but a transfer of this amount cannot be seen here. Ask the shop.',
  away: 'The network cannot be reached. The payment may be on its way. This page goes on looking.',
};
