// A statement that an address is of this account, for one recipient: a file of its own, which the page loads for it.

import { newHolderKey, readPart, showTo, touchFor } from '../../client/vault/holder-key.ts';
import { addressLine } from '../../client/wallet/proof.ts';
import { word } from '../words/words.ts';
import { moment } from './format.ts';
import type { Signed } from './home.ts';
import { ask, VaultRefusal } from './http.ts';
import { guard } from './problem.ts';
import { save } from './save.ts';
import { touch } from './touch.ts';
import { beginIn, fault, field, loading, onPress, onSubmit, show, textIn, toggle, write } from './view.ts';

/** The screen: for whom the statement is, and what it shows; then the file. */
export function state(signed: Signed): void {
  toggle('state-form', true);
  toggle('state-made', false);
  for (const id of FIELDS) fault(id, undefined);
  onSubmit('state-form', () => {
    const asked = readForm();
    if (asked) guard(() => make(signed, asked), { again: () => state(signed) });
  });
  show('statement');
  beginIn('state-address');
}

const FIELDS = ['state-address', 'state-for', 'state-nonce'] as const;

interface Asked {
  readonly channel: 'email' | 'sms';
  readonly address: string;
  readonly recipient: string;
  readonly nonce: string;
}

/** The fields, once nothing is wrong with them. The first that is wrong has the keyboard. */
function readForm(): Asked | undefined {
  const [address, nonce] = [textIn('state-address'), textIn('state-nonce')];
  const channel = address.startsWith('+') ? 'sms' : 'email';
  const isAddress = (channel === 'sms' ? /^\+[\d\s().-]{6,}$/ : /^[^\s@]+@[^\s@]+\.[^\s@]+$/).test(address);
  const recipient = originIn(textIn('state-for'));
  fault('state-nonce', nonce === '' ? word('state.fault_nonce') : undefined);
  fault('state-for', recipient === undefined ? word('state.fault_for') : undefined);
  fault('state-address', isAddress ? undefined : word('state.fault_address'));
  if (!isAddress || recipient === undefined || nonce === '') return undefined;
  return { channel, address, recipient, nonce };
}

/** The origin of a web address, also of one without `https://`; undefined for anything else. */
function originIn(text: string): string | undefined {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  return text !== '' && (url?.protocol === 'https:' || url?.protocol === 'http:') ? url.origin : undefined;
}

async function make(signed: Signed, asked: Asked): Promise<void> {
  const { channel, address, recipient } = asked;
  const isDomain = channel === 'email' && field('state-domain').checked;
  const claims = isDomain ? ['email_domain'] : ['email', 'email_domain', 'phone_number'];
  const made = await makeStatement(signed, asked, claims).catch((error) => {
    // The field is where another address is given.
    const isOther = error instanceof VaultRefusal && (error.code === 'not_found' || /^Invalid/.test(error.code));
    if (!isOther) throw error;
    state(signed);
    fault('state-address', word(error.code === 'not_found' ? 'state.fault_none' : 'state.fault_address'));
    return undefined;
  });
  if (!made) return;
  const shown = isDomain ? address.slice(address.lastIndexOf('@')) : address;
  write('state-words', word('state.made', { address: shown, recipient, time: moment(made.endsAt) }));
  write('state-text', made.text);
  toggle('state-form', false);
  toggle('state-made', true);
  onPress('state-save', () =>
    save(made.text, `address-for-${new URL(recipient).hostname}.sd-jwt`, 'application/dc+sd-jwt'),
  );
  show('statement');
}

/**
 * The statement: an SD-JWT VC with key binding. Nobody can take its key, and nothing keeps it. Its times are the
 * vault's, as a device's clock may be wrong.
 */
async function makeStatement(
  signed: Signed,
  { channel, address, recipient: aud, nonce }: Asked,
  claims: readonly string[],
): Promise<{ readonly text: string; readonly endsAt: string }> {
  const { account, config, contracts } = signed;
  const { credentialId, address: smartAccount } = account;
  const key = await newHolderKey();
  const about = { issuer: config.origin, registrar: contracts.registrar, address: addressLine(channel, address) };
  const touched = await touchFor(key, about, (lines) => touch(signed, lines));
  loading(word('asking'));
  const who = { identifier: address, channel, credentialId, smartAccount };
  const { credential, expires_at: endsAt } = await ask<Issued>('POST /api/credentials', { ...who, ...touched });
  const { iat } = readPart(credential.split('.')[1]) as { iat: number };
  return { text: await showTo(key, credential, claims, { iat, aud, nonce }), endsAt };
}

interface Issued {
  readonly credential: string;
  readonly expires_at: string;
}
