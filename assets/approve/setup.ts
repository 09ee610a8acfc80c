// The screen on which the person chooses the account that approves, or finds the one of a passkey.
import { type Account, NoAccountError } from '../../client/wallet/account.ts';
import { rawSignature } from '../../client/wallet/der.ts';
import { PasskeyError } from '../../client/wallet/passkey.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { findAccounts } from '../wallet/find.ts';
import { type KeptAccount, keepAccounts } from '../wallet/memory.ts';
import type { Payer } from '../wallet/payer.ts';
import { promptWord } from '../wallet/prompt.ts';
import { element, make, makeButton, onPress, short, toggle, write } from '../wallet/view.ts';
import { word } from '../words/words.ts';
import { showPart } from './view.ts';

/** The screen's input. */
export interface Setup {
  readonly config: Config;
  /** The person whom the app names: that passkey alone is asked for. */
  readonly person: Payer | undefined;
  /** The accounts of this device. */
  readonly held: readonly KeptAccount[];
  /** Called once an account was chosen. */
  readonly done: (account: Account) => void;
  /** Undefined where there is nothing to go back to. */
  readonly back: (() => void) | undefined;
  readonly cancel: () => void;
  /** Runs a step; shows what it throws. */
  readonly guard: (run: () => Promise<void>) => void;
}

/** Shows the screen; `notice` says what went wrong before. */
export function showSetup(setup: Setup, notice?: string): void {
  const { config, held, done, back, cancel } = setup;
  const isFirst = held.length === 0;
  sayNotice(notice);
  write('rp', config.rpId);
  write('find', word(isFirst ? 'setup.use' : 'setup.use_this'));
  element('find').classList.toggle('primary', isFirst);
  toggle('accounts', !isFirst);
  element('accounts').replaceChildren(...held.map((account) => rowOf(account, done)));
  toggle('setup-back', back !== undefined);
  toggle('setup-cancel', back === undefined);
  showPart('setup');
  onPress('find', () => setup.guard(() => find(setup)));
  if (back) onPress('setup-back', back);
  onPress('setup-cancel', cancel);
}

async function find(setup: Setup): Promise<void> {
  const { config, person, done } = setup;
  try {
    const ids = person && [person.credentialId];
    const accounts = await findAccounts({ config, enclave: { rawSignature }, ids, again: askAgain });
    // A browser that stores nothing finds it again the next time.
    await keepAccounts(accounts).catch(() => undefined);
    const [first] = accounts;
    if (first) done(first);
  } catch (error) {
    if (error instanceof PasskeyError) return showSetup(setup, refusalOf(error, config));
    if (!(error instanceof NoAccountError)) throw error;
    showSetup(setup, error.account ? word('setup.not_a_key') : word('setup.no_account'));
  }
}

function rowOf(account: KeptAccount, done: (account: Account) => void): HTMLElement {
  const choose = makeButton('', '', () => done(account));
  choose.append(make('strong', '', account.name), make('span', 'small quiet-text', short(account.address)));
  return make('li', '', choose);
}

/** Says what went wrong; `isPlain` where nothing did. */
function sayNotice(notice: string | undefined, isPlain = false): void {
  write('setup-notice', notice);
  element('setup-notice').classList.toggle('plain', isPlain);
}

/** A browser that does not know related origins, or finds none, says so; else the person refused. */
function refusalOf(error: PasskeyError, { rpId }: Config): string {
  const why = promptWord(error);
  return why === 'prompt.foreign' ? word('setup.foreign', { host: rpId }) : word(why ?? 'setup.refused');
}

/** Nothing on the chain tells the passkey's account from another. Browsers want a press for every passkey prompt. */
function askAgain(): Promise<void> {
  sayNotice(word('setup.again'), true);
  write('find', word('setup.once_more'));
  return new Promise((resolve) => onPress('find', resolve));
}
