// The account that is signed in on this device.
import { type Account, kindsOf, NoAccountError, nameOf } from '../../client/wallet/account.ts';
import { toBase64url } from '../../client/wallet/bytes.ts';
import { type Assertion, createPasskey } from '../../client/wallet/passkey.ts';
import { predictAddress } from '../wallet/api.ts';
import { findAccounts } from '../wallet/find.ts';
import { keepAccount, keepAccounts, MemoryError, readAccounts } from '../wallet/memory.ts';
import { word } from '../words/words.ts';
import { nameHere } from './format.ts';
import { notePasskey } from './managers.ts';
import { forget, recall, remember } from './memory.ts';
import type { World } from './operate.ts';
import { guard, ProblemError } from './problem.ts';
import { element, loading, onPress, show, toggle, write } from './view.ts';

/** The accounts of this device, the one that is signed in first; none when nobody is. */
export async function signedIn(): Promise<readonly Account[]> {
  const address = recall<string>('signed-in');
  if (address === undefined) return [];
  const all = await readAccounts().catch((cause) => {
    throw new ProblemError('no_memory', String(cause));
  });
  const current = all.find((one) => one.address === address);
  return current ? [current, ...all.filter((one) => one !== current)] : [];
}

/** Looks at this account from now on. */
export async function signInto(account: Account): Promise<void> {
  await keepAccount(account).catch((error) => {
    throw error instanceof MemoryError ? new ProblemError('no_memory') : error;
  });
  remember('signed-in', account.address);
}

/** Forgets on this device who is signed in. The passkey stays. */
export function signOut(): void {
  forget('signed-in');
}

/**
 * The first screen: sign in, create, or recover. `then` is called once somebody is signed in; `byMail` runs for a
 * person without a passkey, instead of a recovery.
 */
export function start(world: World, then: () => void, notice?: string, byMail?: () => void): void {
  write('start-notice', notice);
  element('start-notice').classList.remove('plain');
  write('rp', world.config.rpId);
  const back = (words: string) => start(world, then, words, byMail);
  const use = (open: () => Promise<void>) => () =>
    guard(
      async () => {
        await open().catch((error) => {
          if (!(error instanceof NoAccountError)) throw error;
          back(noAccountWords(error));
        });
      },
      { again: () => start(world, then, notice, byMail), noPasskey: back },
    );
  onPress(
    'sign-in',
    use(() => signIn(world, then)),
  );
  onPress(
    'create',
    use(() => create(world, then)),
  );
  toggle('create', !byMail);
  write('lost-link', byMail ? word('start.stop_by_mail') : word('start.lost'));
  onPress('lost-link', () => {
    if (byMail) byMail();
    else location.hash = 'recover';
  });
  show('start');
}

function noAccountWords({ account }: NoAccountError): string {
  if (account === undefined) return word('start.no_account');
  return word('start.not_a_key');
}

async function signIn(world: World, then: () => void): Promise<void> {
  const again = () =>
    new Promise<void>((resolve) => {
      write('start-notice', word('start.once_more'));
      element('start-notice').classList.add('plain');
      show('start');
      onPress('sign-in', resolve);
    });
  let userHandle: Uint8Array | undefined;
  const seen = (assertion: Assertion) => {
    userHandle = assertion.userHandle;
  };
  const found = await findAccounts({ ...world, again, seen });
  loading(word('loading'));
  await keepAccounts(found);
  const [first] = found;
  if (!first) throw new NoAccountError();
  await signInto(first);
  if (userHandle && first.x)
    notePasskey({ credentialId: first.credentialId, x: first.x, userId: toBase64url(userHandle) }, first.address);
  then();
}

async function create(world: World, then: () => void): Promise<void> {
  const { config } = world;
  const { rpName } = config;
  const name = nameHere();
  const made = await createPasskey(config.rpId, { rpName, name: `${rpName}, ${name}` });
  loading(word('start.making'));
  const [kind = 1] = kindsOf(config);
  const address = await predictAddress(made, kind);
  const { credentialId, x, y } = made;
  notePasskey(made, address, { name, brand: rpName });
  await signInto({ credentialId, address, kind, x, y, name: nameOf(address) });
  then();
}

/** Fills the list of this device's accounts; choosing one signs in with it. */
export function writeAccounts(accounts: readonly Account[], then: () => void): void {
  const select = element<HTMLSelectElement>('account');
  const isList = accounts.length > 1;
  select.hidden = !isList;
  element('account-label').hidden = !isList;
  select.replaceChildren(...accounts.map(({ name, address }) => new Option(name, address)));
  select.value = accounts[0]?.address ?? '';
  select.onchange = () => {
    const other = accounts.find(({ address }) => address === select.value);
    if (other) guard(() => signInto(other).then(then), {});
  };
}
