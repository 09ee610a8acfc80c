import type { RequestFault } from './request.ts';

/** What went wrong, in a word that shops are told, too. */
export type Problem =
  | RequestFault
  | 'no_request'
  | 'down'
  | 'unknown'
  | 'refused'
  | 'reverted'
  | 'spent'
  | 'other_terms'
  | 'aborted'
  | 'cancelled'
  | 'no_memory'
  | 'unexpected';

const NOTHING = 'Nothing was paid.';
const SHOP = `The shop’s request is faulty. ${NOTHING}`;

/** Title and text for a person. */
export const PROBLEMS: Readonly<Record<Problem, readonly [string, string]>> = {
  no_request: [
    'There is nothing to pay here',
    `The shop’s request is gone. ${NOTHING} Go back to the shop and try again.`,
  ],
  no_id: ['This cannot be paid', `${SHOP} It has no id.`],
  no_data: ['This cannot be paid', `${SHOP} It does not say what to pay.`],
  several_data: ['This cannot be paid', `${SHOP} It asks for several payments at once.`],
  bad_to: ['This cannot be paid', `${SHOP} It names no one to pay.`],
  bad_checksum: ['This cannot be paid', `${SHOP} An address in it is misspelt.`],
  bad_amount: ['This cannot be paid', `${SHOP} Its amount is none.`],
  bad_token: ['This cannot be paid', `${SHOP} There is no such token.`],
  bad_chain: ['This cannot be paid', `${SHOP} It names no network.`],
  other_chain: [
    'Wrong network',
    `The shop asks for a payment on a network that this vault does not pay on. ${NOTHING}`,
  ],
  bad_label: ['This cannot be paid', `${SHOP} Its label is no text.`],
  bad_expiry: ['This cannot be paid', `${SHOP} Its end is no time.`],
  expired: ['Too late', `The request has expired. ${NOTHING} Go back to the shop and try again.`],
  down: ['The network cannot be reached', `${NOTHING} Try again in a moment.`],
  unknown: [
    'No answer yet',
    'Your payment was signed, and may be on its way. Trying again sends the very same payment, which can settle only once.',
  ],
  refused: ['The network refused the payment', NOTHING],
  reverted: ['The payment failed', 'The transfer was refused on-chain. No money was moved. The shop has to ask anew.'],
  spent: [
    'Already settled',
    'This request was settled from your account before. It cannot be paid twice, and nothing was paid now.',
  ],
  other_terms: ['This cannot be paid', `The shop used the id of another payment that you approved. ${NOTHING}`],
  aborted: ['The shop took its request back', NOTHING],
  cancelled: ['Cancelled', NOTHING],
  no_memory: [
    'This window remembers nothing',
    `A payment must not be forgotten on its way. ${NOTHING} Leave private browsing, or allow this site to keep data, and try again.`,
  ],
  unexpected: ['Something went wrong', 'Close this window and look at your balance before you try again.'],
};
