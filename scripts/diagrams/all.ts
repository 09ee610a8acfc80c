// The diagrams of the documents. Their words are those of the text beside them.
import type { Row, Sequence } from './sequence.ts';

/** The rows of a diagram, of parties by their place from 0 on. */
const asks = (from: number, to: number, says: string): Row => ({ from, to, says });
const answers = (from: number, to: number, says: string): Row => ({ from, to, says, isAnswer: true });
const acts = (at: number, does: string): Row => ({ at, does });
const part = (name: string): Row => ({ part: name });

const CONCEPTS: Sequence = {
  title: 'From a code to a proof',
  about: 'A person proves an address by a code and a DID by a passkey; the vault registers the DID on the chain.',
  parties: [
    { name: 'Person and browser', icon: 'person' },
    { name: 'Vault', icon: 'vault' },
    { name: 'Chain', icon: 'chain' },
  ],
  rows: [
    asks(0, 1, 'an address'),
    answers(1, 0, 'a code, by mail or SMS'),
    asks(0, 1, 'the code'),
    answers(1, 0, 'an attestation'),
    acts(0, 'makes a passkey'),
    asks(0, 1, 'its public key'),
    answers(1, 0, 'its account, so the DID'),
    acts(0, 'signs the proof'),
    asks(0, 1, 'attestation, DID, proof'),
    asks(1, 2, 'registers the DID'),
    answers(2, 1, 'it is in a block'),
    answers(1, 0, 'confirmed, later final'),
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
    asks(0, 1, '“Sign up” or “Sign in”'),
    acts(1, 'draws a verifier, hashes it to a challenge'),
    asks(1, 2, 'link with the challenge'),
    part('New here'),
    asks(0, 2, 'address, the code that was sent there, a new passkey'),
    acts(2, 'registers account and DID'),
    part('Here before'),
    asks(0, 2, 'a passkey’s signature'),
    part('Both'),
    answers(2, 1, 'back, with a code'),
    asks(1, 2, 'the code, the verifier'),
    answers(2, 1, 'DID, account, addresses'),
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
    asks(0, 1, 'an order’s id'),
    asks(1, 2, 'what to pay'),
    acts(2, 'shows amount, shop and fee to the person'),
    acts(2, 'has the passkey sign exactly that'),
    asks(2, 3, 'the transfer'),
    answers(3, 2, 'it is in a block'),
    answers(2, 1, 'receipt: a hint'),
    asks(1, 0, 'the receipt'),
    asks(0, 3, 'was this order paid, this amount, to this payee?'),
    answers(3, 0, 'paid, later final: hand over'),
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
    part('Once, with a key'),
    asks(0, 2, 'proves an address'),
    asks(0, 3, 'names the vault its guardian, with a delay'),
    part('All keys are lost'),
    asks(1, 2, 'code, new key'),
    asks(2, 3, 'proposes it'),
    answers(2, 0, 'mails, daily: stop it?'),
    part('The delay is over, and nobody objected'),
    asks(2, 3, 'finishes'),
    acts(3, 'has the new key'),
    part('Or somebody has a key after all'),
    asks(0, 3, 'veto, which the vault carries: no key was added'),
  ],
};

/** By the names of their files in `docs/images/`. */
export const DIAGRAMS: Readonly<Record<string, Sequence>> = {
  'concepts.svg': CONCEPTS,
  'payments.svg': PAYMENTS,
  'recovery.svg': RECOVERY,
  'sign-in.svg': SIGN_IN,
};
