// The screen on which the person chooses an account, makes one, or finds the one of a passkey. It is a file of its own,
// loaded for this screen or that of the funds: a second payment from the same account never needs it. Classes that the
// page has too exist twice, so errors are known by their names.

import { type Account, kindsOf, type NoAccountError } from '../../client/wallet/account.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { askPasskey, createPasskey, PasskeyError } from '../../client/wallet/passkey.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { isSignedBy } from '../../client/wallet/verify.ts';
import { amountText } from '../wallet/amount.ts';
import { predictAddress, type Token } from '../wallet/api.ts';
import { findAccounts } from '../wallet/find.ts';
import { type KeptAccount, keepAccount, keepAccounts } from '../wallet/memory.ts';
import type { Payer } from '../wallet/payer.ts';
import { printable } from '../wallet/printable.ts';
import { promptWord } from '../wallet/prompt.ts';
import { isNamed, make, makeButton, short } from '../wallet/view.ts';
import { spoken, word } from '../words/words.ts';
import type { Payment } from './request.ts';
import { beginIn, element, onPress, showPart, toggle, write } from './view.ts';

export { showFunds } from './funds.ts';

/** An account, and its balance of the token; undefined where that cannot be read. */
export interface AccountBalance {
  readonly account: KeptAccount;
  readonly token: Token | undefined;
}

/** The screen's input. */
export interface Setup {
  readonly config: Config;
  readonly enclave: Enclave;
  readonly payment: Payment;
  /** The payer that the shop names, while the page asks for that passkey alone. */
  readonly payer: Payer | undefined;
  /** The accounts of this device. */
  readonly held: readonly AccountBalance[];
  /** Called once an account was chosen, and stored. */
  readonly done: (account: KeptAccount) => Promise<void>;
  /** Undefined where there is nothing to go back to. */
  readonly back: (() => void) | undefined;
  readonly cancel: () => void;
  /** Runs a step; shows what it throws, with a way to `again`. */
  readonly guard: (run: () => Promise<void>, again: () => Promise<void>) => Promise<void>;
}

/** Shows the screen; `notice` says what went wrong before. */
export function showSetup(setup: Setup, notice?: string): void {
  const { config, payer, back, cancel } = setup;
  const held = payer ? [] : setup.held;
  const isFirst = held.length === 0;
  write('setup-title', word(isFirst ? 'setup.pay' : 'setup.title'));
  sayNotice(notice);
  write('rp', config.rpId);
  write('find', word(isFirst ? 'setup.use' : 'setup.use_this'));
  element('find').classList.toggle('primary', isFirst);
  toggle('accounts', !isFirst);
  element('accounts').replaceChildren(...held.map((one) => rowOf(one, setup)));
  write('newcomer', payer ? undefined : word(isFirst ? 'setup.newcomer' : 'new.create'));
  toggle('setup-other', payer !== undefined);
  toggle('setup-back', back !== undefined);
  toggle('setup-cancel', back === undefined);
  showPart('setup');
  onPress('newcomer', () => showNew(setup));
  onPress('setup-other', () => showSetup({ ...setup, payer: undefined }));
  onPress('find', () => find(setup));
  if (back) onPress('setup-back', back);
  onPress('setup-cancel', cancel);
}

/** The same, and asks for a passkey at once: the person has pressed for it. */
export function findNow(setup: Setup): void {
  showSetup(setup);
  find(setup);
}

function find(setup: Setup): void {
  const { config, enclave, payment, payer } = setup;
  const ids = payer && [payer.credentialId];
  const search = { config, enclave, ids, tokens: [payment.token], again: askAgain };
  use(
    setup,
    () => findAccounts(search),
    (error) => showSetup(setup, refusalOf(error, config)),
  );
}

/** The form of a new account. `known` are passkeys beside which none is made. */
function showNew(setup: Setup, notice?: string, known = setup.held.map(idOf)): void {
  const { config, held } = setup;
  write('new-notice', notice);
  const field = element<HTMLInputElement>('name');
  field.value ||= suggestedName(held);
  showPart('new');
  beginIn('name');
  onPress('new-back', () => showSetup(setup));
  onPress('create', () => {
    const name = printable(field.value);
    if (name === '') return showNew(setup, word('new.fault'), known);
    if (held.some(({ account }) => account.name === name)) return showNew(setup, word('setup.taken'), known);
    const create = async () => [await createAccount(setup, name, known)];
    use(setup, create, (error) => {
      const isThere = causeOf(error) === 'InvalidStateError';
      showNew(setup, isThere ? word('setup.there') : refusalOf(error, config), isThere ? [] : known);
    });
  });
}

/** Goes on with an account, once it is stored; `refused` is called where no passkey was used. */
function use(setup: Setup, open: () => Promise<readonly KeptAccount[]>, refused: (error: PasskeyError) => void): void {
  const run = async () => {
    try {
      const [first, ...others] = await open();
      if (!first) return;
      await keepAccounts([first, ...others]);
      await setup.done(first);
    } catch (error) {
      if (error instanceof PasskeyError) return refused(error);
      if (!isNamed(error, 'NoAccountError')) throw error;
      showSetup(setup, (error as NoAccountError).account ? word('setup.not_a_key') : word('setup.no_account'));
    }
  };
  void setup.guard(run, async () => showSetup(setup));
}

/**
 * Has the passkey of an account sign once, and stores the account if the signature is by its key. Undefined where no
 * passkey was used, false where its key is another.
 */
export async function askOwner({ config, enclave }: Pick<Setup, 'config' | 'enclave'>, account: Account) {
  const { credentialId, x, y } = account;
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const assertion = await askPasskey(config.rpId, challenge, [credentialId]).catch(() => undefined);
  if (!assertion) return undefined;
  if (!x || !y || !(await isSignedBy({ x, y }, assertion, enclave))) return false;
  await keepAccounts([account]);
  return true;
}

/** Says what went wrong; `isPlain` where nothing did. */
function sayNotice(notice: string | undefined, isPlain = false): void {
  write('setup-notice', notice);
  element('setup-notice').classList.toggle('plain', isPlain);
}

function idOf({ account }: AccountBalance): string {
  return account.credentialId;
}

/** An account to choose: its name, which can be changed, and its balance. */
function rowOf({ account, token }: AccountBalance, setup: Setup): HTMLElement {
  const { address, name } = account;
  const sum =
    token && `${amountText(token.balance, token.decimals)} ${token.listed ? token.symbol : word('units.known')}`;
  const choose = makeButton(
    '',
    '',
    () =>
      void setup.guard(
        () => setup.done(account),
        async () => showSetup(setup),
      ),
  );
  choose.append(
    make('strong', '', name),
    make('span', 'small quiet-text', `${sum ?? '?'} · `, make('span', 'whole', short(address))),
  );
  const rename = makeButton(word('setup.rename'), 'link', () => {
    const field = make('input', '') as HTMLInputElement;
    field.value = name;
    field.maxLength = 40;
    field.ariaLabel = word('setup.name');
    const save = async () => {
      const named = { ...account, name: printable(field.value) || name };
      await keepAccount(named);
      showSetup({
        ...setup,
        held: setup.held.map((one) => (one.account === account ? { account: named, token } : one)),
      });
    };
    row.replaceChildren(
      field,
      makeButton(word('setup.save'), 'link', () => void setup.guard(save, async () => showSetup(setup))),
    );
    field.focus();
  });
  rename.ariaLabel = word('setup.rename_this', { name });
  const row = make('li', '', choose, rename);
  return row;
}

/** Differs from earlier suggestions of a device: the passkey managers of a person show them side by side. */
function suggestedName(held: readonly AccountBalance[]): string {
  const time = new Date().toLocaleString(spoken(), { dateStyle: 'medium', timeStyle: 'short' });
  const name = word('name.since', { time });
  const alike = held.filter(({ account }) => account.name.startsWith(name)).length;
  return alike === 0 ? name : `${name} (${alike + 1})`;
}

function causeOf({ cause }: PasskeyError): string {
  return cause instanceof DOMException ? cause.name : '';
}

/** A browser that does not know related origins, or finds none, says so; else the person refused. */
function refusalOf(error: PasskeyError, { rpId }: Config): string {
  const isForbidden = causeOf(error) === 'SecurityError';
  return isForbidden ? word('setup.foreign', { host: rpId }) : word(promptWord(error) ?? 'setup.refused');
}

/** Creates a passkey and computes its account, which need not be deployed. */
async function createAccount({ config }: Setup, name: string, known: readonly string[]): Promise<KeptAccount> {
  const { credentialId, x, y } = await createPasskey(config.rpId, { rpName: config.rpName, name, known });
  const [kind = 1] = kindsOf(config);
  return { credentialId, address: await predictAddress({ x, y }, kind), kind, x, y, name, isNew: true };
}

/** Nothing on the chain tells the passkey's account from another. Browsers want a press for every passkey prompt. */
function askAgain(): Promise<void> {
  sayNotice(word('setup.again'), true);
  write('find', word('setup.once_more'));
  return new Promise((resolve) => onPress('find', resolve));
}
