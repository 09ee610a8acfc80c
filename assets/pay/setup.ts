// The screen on which the person chooses an account, makes one, or finds the one of a passkey. It is a file of its own,
// which the page loads when it shows the screen, or that of the funds: who pays from the same account again never does.
// Classes that the page has too exist twice, so errors are known by their names.
import { type Account, kindsOf, type NoAccountError } from '../../client/wallet/account.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { createPasskey, PasskeyError } from '../../client/wallet/passkey.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { amountText } from '../wallet/amount.ts';
import { predictAddress } from '../wallet/api.ts';
import { findAccounts } from '../wallet/find.ts';
import { keepAccount, keepAccounts } from '../wallet/memory.ts';
import { isNamed, make, makeButton, short } from '../wallet/view.ts';
import { spoken, word } from '../words/words.ts';
import type { Held } from './payer.ts';
import { type Payment, printable } from './request.ts';
import { element, onPress, showPart, toggle, write } from './view.ts';

export { showFunds } from './funds.ts';

/** What the screen needs of the page. */
export interface Setup {
  readonly config: Config;
  readonly enclave: Enclave;
  readonly payment: Payment;
  /** The accounts of this device. */
  readonly held: readonly Held[];
  /** Called once an account was chosen, and stored. */
  readonly done: (account: Account) => Promise<void>;
  /** Undefined where there is nothing to go back to. */
  readonly back: (() => void) | undefined;
  readonly cancel: () => void;
  /** Runs a step; shows what it throws, with a way to `again`. */
  readonly guard: (run: () => Promise<void>, again: () => Promise<void>) => Promise<void>;
}

/** Shows the screen; `notice` says what went wrong before. `known` are passkeys beside which none is made. */
export function showSetup(setup: Setup, notice?: string, known = setup.held.map(idOf)): void {
  const { config, enclave, payment, held, done, back, cancel, guard } = setup;
  write('setup-notice', notice);
  write('rp', config.rpId);
  write('find', word('Use a passkey I have'));
  toggle('accounts', held.length > 0);
  element('create').className = held.length > 0 ? '' : 'primary';
  element('accounts').replaceChildren(...held.map((one) => rowOf(one, setup)));
  toggle('setup-back', back !== undefined);
  toggle('setup-cancel', back === undefined);
  const field = element<HTMLInputElement>('name');
  field.value ||= suggestedName(held);
  showPart('setup');
  const again = async () => showSetup(setup);
  const use = (open: () => Promise<readonly Account[]>) => {
    const run = async () => {
      try {
        const [first, ...others] = await open();
        if (!first) return;
        await keepAccounts([first, ...others]);
        await done(first);
      } catch (error) {
        if (error instanceof PasskeyError) {
          const isThere = causeOf(error) === 'InvalidStateError';
          return showSetup(setup, isThere ? word('setup.there') : refusalOf(error, config), isThere ? [] : known);
        }
        if (!isNamed(error, 'NoAccountError')) throw error;
        showSetup(setup, (error as NoAccountError).account ? word('setup.not_a_key') : word('setup.no_account'));
      }
    };
    return () => void guard(run, again);
  };
  const create = use(async () => [await createAccount(setup, printable(field.value), known)]);
  onPress('create', () => {
    const name = printable(field.value);
    const isTaken = held.some(({ account }) => account.name === name);
    if (name === '') showSetup(setup, word('Give the account a name.'), known);
    else if (isTaken) showSetup(setup, word('setup.taken'), known);
    else create();
  });
  onPress(
    'find',
    use(() => findAccounts({ config, enclave, tokens: [payment.token], again: askAgain })),
  );
  if (back) onPress('setup-back', back);
  onPress('setup-cancel', cancel);
}

function idOf({ account }: Held): string {
  return account.credentialId;
}

/** An account to choose: its name, which can be changed, and what it holds. */
function rowOf({ account, token }: Held, setup: Setup): HTMLElement {
  const { address, name } = account;
  const sum = token && `${amountText(token.balance, token.decimals)} ${token.listed ? token.symbol : word('units')}`;
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
  const rename = makeButton(word('Rename'), 'link', () => {
    const field = make('input', '') as HTMLInputElement;
    field.value = name;
    field.maxLength = 40;
    field.ariaLabel = word('Name');
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
      makeButton(word('Save'), 'link', () => void setup.guard(save, async () => showSetup(setup))),
    );
    field.focus();
  });
  rename.ariaLabel = word('Rename {name}', { name });
  const row = make('li', '', choose, rename);
  return row;
}

/** Differs from what a device suggested before: the passkey managers of a person show them side by side. */
function suggestedName(held: readonly Held[]): string {
  const time = new Date().toLocaleString(spoken(), { dateStyle: 'medium', timeStyle: 'short' });
  const name = word('Account of {time}', { time });
  const alike = held.filter(({ account }) => account.name.startsWith(name)).length;
  return alike === 0 ? name : `${name} (${alike + 1})`;
}

function causeOf({ cause }: PasskeyError): string {
  return cause instanceof DOMException ? cause.name : '';
}

/** A browser that does not know related origins, or finds none, says so; else the person refused. */
function refusalOf(error: PasskeyError, { rpId }: Config): string {
  const isForbidden = causeOf(error) === 'SecurityError';
  return isForbidden ? word('setup.foreign', { host: rpId }) : word('No passkey was used.');
}

/** Creates a passkey and computes its account, which need not be deployed. */
async function createAccount({ config }: Setup, name: string, known: readonly string[]): Promise<Account> {
  const { credentialId, x, y } = await createPasskey(config.rpId, { rpName: config.rpName, name, known });
  const [kind = 1] = kindsOf(config);
  return { credentialId, address: await predictAddress({ x, y }, kind), kind, x, y, name };
}

/** Nothing on the chain tells the passkey's account from another. Browsers want a press for every passkey prompt. */
function askAgain(): Promise<void> {
  write('setup-notice', word('setup.again'));
  write('find', word('Confirm once more'));
  return new Promise((resolve) => onPress('find', resolve));
}
