// Adding, naming and removing the keys of an account.

import { checksum } from '../../client/checksum.ts';
import { dataOf } from '../../client/wallet/abi.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { createPasskey, userIdNaming } from '../../client/wallet/passkey.ts';
import { word } from '../words/words.ts';
import { readFacts } from './facts.ts';
import { isName, labelOf, NOTHING, nameHere, short } from './format.ts';
import { aboutKey, keysOf, type ShownKey, type Signed } from './home.ts';
import { dropNew, notePasskey } from './managers.ts';
import { perform } from './perform.ts';
import { guard } from './problem.ts';
import { element, fault, fill, onPress, onSubmit, show, textIn, toggle, write } from './view.ts';

/** A key to add. */
export interface NewKey {
  readonly x: Hex;
  readonly y: Hex;
  readonly label: Hex;
  readonly name: string;
  /** Runs when the person goes back without having signed anything. */
  readonly unsigned?: () => void;
}

/** The choice of a key to add, and where to make it. */
export function pick(signed: Signed, back: () => void): void {
  const { config, account } = signed;
  if (textIn('key-name') === '') fill('key-name', nameHere());
  const again = () => pick(signed, back);
  const here = async () => {
    const name = textIn('key-name');
    fault('key-name', isName(name) ? undefined : word('name.fault'));
    if (!isName(name)) return;
    const made = await createPasskey(config.rpId, {
      rpName: config.rpName,
      name: passkeyName(account.address),
      userId: userIdNaming(account.address),
    });
    notePasskey(made, account.address);
    const unsigned = () => dropNew(config, made.credentialId);
    addKey(signed, { x: made.x, y: made.y, label: labelOf(name, made.isSynced), name, unsigned }, again);
  };
  const noPasskey = (words: string) => {
    again();
    element<HTMLDetailsElement>('pick-here-more').open = true;
    fault('key-name', words);
  };
  onSubmit('pick-form', () => guard(here, { again, noPasskey }));
  onPress('pick-there', () => {
    location.hash = 'qr';
  });
  onSubmit('address-form', () => guard(() => addAddress(signed, again), { again }));
  for (const id of ['pick-here-more', 'pick-address']) element<HTMLDetailsElement>(id).open = false;
  fault('key-name', undefined);
  fault('owner', undefined);
  show('pick');
}

/** The name under which a passkey manager shows a passkey of this account, below the brand. */
export function passkeyName(account: Hex): string {
  return word('name.account', { address: short(account) }, NOTHING);
}

/** Has the owner confirm a new key. */
export function addKey(signed: Signed, { x, y, label, name, unsigned }: NewKey, back: () => void): void {
  const { account, enclave } = signed;
  const data = dataOf(enclave.keccak256, 'addKey(uint256,uint256,bytes32)', [x, y, label]);
  perform(
    signed,
    account,
    {
      title: word('add.title', { name }),
      words: word('add.words'),
      button: word('add.go'),
      calls: [{ to: account.address, value: 0n, data }],
      progress: word('add.progress', { name }),
      done: [word('add.done'), word('add.done_words', { name })],
      unsigned,
      detail: { call: 'addKey', x, y, label },
    },
    back,
  );
}

async function addAddress(signed: Signed, back: () => void): Promise<void> {
  const owner = textIn('owner');
  const words = await faultOf(signed, owner);
  fault('owner', words);
  if (words !== undefined) return;
  const name = word('name.wallet', { address: short(owner) }, NOTHING);
  const key = { x: owner.toLowerCase() as Hex, y: '0x0' as const, label: labelOf(name, null), name };
  addKey(signed, key, back);
}

/** The fault of an address that is to be a key; it must belong to a wallet that signs by itself. */
async function faultOf(signed: Signed, owner: string): Promise<string | undefined> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(owner) || BigInt(owner) === 0n) return word('address.fault_form');
  const digits = owner.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (isMixed && checksum(digits.toLowerCase(), signed.enclave.keccak256) !== owner) return word('address.fault_typo');
  const isKey = keysOf(signed).some(({ x, y }) => BigInt(x) === BigInt(owner) && BigInt(y) === 0n);
  if (isKey) return word('address.fault_known');
  const { kind } = await readFacts(owner.toLowerCase() as Hex);
  if (kind !== null) return word('address.fault_contract');
  return undefined;
}

/** One key: its name, and its end. */
export function editKey(signed: Signed, key: ShownKey, back: () => void): void {
  const count = keysOf(signed).length;
  write('key-title', key.name);
  write('key-words', aboutKey(key));
  fill('new-name', key.name);
  fault('new-name', undefined, 'rename-fault');
  write('remove', key.isAddress ? word('key.remove_address') : word('key.remove'));
  toggle('remove', count > 1);
  write('remove-hint', count === 1 ? word('key.last') : key.isHere ? word('key.here') : undefined);
  const again = () => editKey(signed, key, back);
  onSubmit('rename-form', () => {
    const name = textIn('new-name');
    fault('new-name', isName(name) ? undefined : word('name.fault'), 'rename-fault');
    if (isName(name)) renameKey(signed, key, name, again);
  });
  onPress('remove', () => removeKey(signed, key, again));
  show('key');
}

function renameKey(signed: Signed, { index, synced }: ShownKey, name: string, back: () => void): void {
  const { account, enclave } = signed;
  const label = labelOf(name, synced);
  const data = dataOf(enclave.keccak256, 'nameKey(uint8,bytes32)', [BigInt(index), label]);
  perform(
    signed,
    account,
    {
      title: word('rename.title', { name }),
      words: word('rename.words'),
      button: word('key.rename'),
      calls: [{ to: account.address, value: 0n, data }],
      progress: word('rename.progress'),
      done: [word('rename.done'), word('rename.done_words', { name })],
      detail: { call: 'nameKey', index, label },
    },
    back,
  );
}

/** The address of an account follows from its first key, on every network. */

function removeKey(signed: Signed, { index, x, y, name, isHere }: ShownKey, back: () => void): void {
  const { account, enclave } = signed;
  const data = dataOf(enclave.keccak256, 'removeKey(uint8,uint256,uint256)', [BigInt(index), x, y]);
  perform(
    signed,
    account,
    {
      title: word('remove.title', { name }),
      words: [isHere ? word('remove.here') : word('remove.words'), ...(index === 0 ? [word('remove.first')] : [])].join(
        ' ',
      ),
      button: word('remove.go'),
      calls: [{ to: account.address, value: 0n, data }],
      progress: word('remove.progress', { name }),
      done: [word('remove.done'), word('remove.done_words', { name })],
      next: isHere ? 'out' : '',
      removes: x,
      detail: { call: 'removeKey', index, x, y },
    },
    back,
  );
}
