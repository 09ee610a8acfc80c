import type { RequestFault } from './request.ts';

/** What went wrong. The word goes to the shop too. */
export type Problem =
  | RequestFault
  | 'no_request'
  | 'down'
  | 'unknown'
  | 'refused'
  | 'fee_bound'
  | 'reverted'
  | 'spent'
  | 'other_terms'
  | 'aborted'
  | 'cancelled'
  | 'no_memory'
  | 'unexpected';

const NOTHING = 'Nothing was paid.';
const SHOP = `The shop’s request has an error. ${NOTHING}`;

/** Title and text that the person reads. */
export const PROBLEMS: Readonly<Record<Problem, readonly [string, string]>> = {
  no_request: [
    'There is nothing to pay here',
    `The shop’s request is gone. ${NOTHING} Go back to the shop and try again.`,
  ],
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
    `The shop asks for a payment on a network that this vault does not support. ${NOTHING}`,
  ],
  bad_label: ['This cannot be paid', `${SHOP} The label is not text.`],
  bad_expiry: ['This cannot be paid', `${SHOP} The expiry is not a valid time.`],
  expired: ['Too late', `The request has expired. ${NOTHING} Go back to the shop and try again.`],
  down: ['The network cannot be reached', `${NOTHING} Try again in a moment.`],
  unknown: [
    'No answer yet',
    'Your payment is signed and may be on its way. You can try again: this sends the same payment, which settles only once.',
  ],
  fee_bound: [
    'The network fee is too high',
    `It is more than the operator of this vault allows. Nothing was signed. ${NOTHING} Try again later.`,
  ],
  refused: ['The network refused the payment', NOTHING],
  reverted: ['The payment failed', 'The network rejected the transfer. No money moved. Ask the shop to start again.'],
  spent: [
    'Already settled',
    'This request was already settled from your account. It cannot be paid twice. Nothing was paid now.',
  ],
  other_terms: ['This cannot be paid', `The shop reused the id of another payment that you approved. ${NOTHING}`],
  aborted: ['The shop withdrew its request', NOTHING],
  cancelled: ['Cancelled', NOTHING],
  no_memory: [
    'This window cannot store data',
    `This page stores each payment, so that it cannot be paid twice. ${NOTHING} Leave private browsing or allow this site to store data. Then try again.`,
  ],
  unexpected: ['Something went wrong', 'Close this window. Check your balance before you try again.'],
};
