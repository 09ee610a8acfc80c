// The diagrams of the documents. Their words are those of the text beside them.
import type { Sequence } from './sequence.ts';

const CONCEPTS: Sequence = {
  title: 'From a code to a proof',
  about: 'A person proves an address by a code and a DID by a passkey; the vault registers the DID on the chain.',
  parties: [
    { name: 'Person and browser', icon: 'person' },
    { name: 'Vault', icon: 'vault' },
    { name: 'Chain', icon: 'chain' },
  ],
  rows: [
    { from: 0, to: 1, says: 'an address' },
    { from: 1, to: 0, says: 'a code, by mail or SMS', isAnswer: true },
    { from: 0, to: 1, says: 'the code' },
    { from: 1, to: 0, says: 'an attestation', isAnswer: true },
    { at: 0, does: 'makes a passkey' },
    { from: 0, to: 1, says: 'its public key' },
    { from: 1, to: 0, says: 'its account, so the DID', isAnswer: true },
    { at: 0, does: 'signs the proof' },
    { from: 0, to: 1, says: 'attestation, DID, proof' },
    { from: 1, to: 2, says: 'registers the DID' },
    { from: 2, to: 1, says: 'it is in a block', isAnswer: true },
    { from: 1, to: 0, says: 'confirmed, later final', isAnswer: true },
  ],
};

const SIGN_IN: Sequence = {
  title: 'Sign-up for an app',
  about: 'The app leads a person to the vault, gets a code back, and exchanges it for who the person is.',
  parties: [
    { name: 'Person', icon: 'person' },
    { name: 'Your app', icon: 'app' },
    { name: 'Vault', icon: 'vault' },
  ],
  rows: [
    { from: 0, to: 1, says: '“Sign up” or “Sign in”' },
    { at: 1, does: 'draws a verifier, hashes it to a challenge' },
    { from: 1, to: 2, says: 'link with the challenge' },
    { part: 'New here' },
    { from: 0, to: 2, says: 'address, the code that was sent there, a new passkey' },
    { at: 2, does: 'registers account and DID' },
    { part: 'Here before' },
    { from: 0, to: 2, says: 'a passkey’s signature' },
    { part: 'Both' },
    { from: 2, to: 1, says: 'back, with a code', isAnswer: true },
    { from: 1, to: 2, says: 'the code, the verifier' },
    { from: 2, to: 1, says: 'DID, account, addresses', isAnswer: true },
  ],
};

const PAYMENTS: Sequence = {
  title: 'A payment',
  about: 'The shop’s page asks, the person approves at the vault’s page, and the shop’s server checks the chain.',
  parties: [
    { name: 'Shop’s server', icon: 'server' },
    { name: 'Shop’s page', icon: 'shop' },
    { name: 'Vault’s page', icon: 'key' },
    { name: 'Chain', icon: 'chain' },
  ],
  rows: [
    { from: 0, to: 1, says: 'an order’s id' },
    { from: 1, to: 2, says: 'what to pay' },
    { at: 2, does: 'shows amount, shop and fee to the person' },
    { at: 2, does: 'has the passkey sign exactly that' },
    { from: 2, to: 3, says: 'the transfer' },
    { from: 3, to: 2, says: 'it is in a block', isAnswer: true },
    { from: 2, to: 1, says: 'receipt: a hint', isAnswer: true },
    { from: 1, to: 0, says: 'the receipt' },
    { from: 0, to: 3, says: 'was this order paid, this amount, to this payee?' },
    { from: 3, to: 0, says: 'paid, later final: hand over', isAnswer: true },
  ],
};

const RECOVERY: Sequence = {
  title: 'A recovery',
  about: 'The vault proposes a new key after a code; any key of the account stops it while the delay lasts.',
  parties: [
    { name: 'Any key', icon: 'key' },
    { name: 'Person', icon: 'person' },
    { name: 'Vault', icon: 'vault' },
    { name: 'Account', icon: 'chain' },
  ],
  rows: [
    { part: 'Once, with a key' },
    { from: 0, to: 2, says: 'proves an address' },
    { from: 0, to: 3, says: 'names the vault its guardian, with a delay' },
    { part: 'All keys are lost' },
    { from: 1, to: 2, says: 'code, new key' },
    { from: 2, to: 3, says: 'proposes it' },
    { from: 2, to: 0, says: 'mails, daily: stop it?', isAnswer: true },
    { part: 'The delay is over, and nobody objected' },
    { from: 2, to: 3, says: 'finishes' },
    { at: 3, does: 'has the new key' },
    { part: 'Or somebody has a key after all' },
    { from: 0, to: 3, says: 'veto, which the vault carries: no key was added' },
  ],
};

/** By the names of their files in `docs/images/`. */
export const DIAGRAMS: Readonly<Record<string, Sequence>> = {
  'concepts.svg': CONCEPTS,
  'payments.svg': PAYMENTS,
  'recovery.svg': RECOVERY,
  'sign-in.svg': SIGN_IN,
};
