// The account page: who is signed in, and which screen the address bar names.
import type { Account } from '../../client/wallet/account.ts';
import { loadEnclave } from '../../client/wallet/enclave.ts';
import { UnreachableError } from '../../client/wallet/vault.ts';
import { readConfig } from '../wallet/api.ts';
import { readAccounts } from '../wallet/memory.ts';
import { loadWords, word } from '../words/words.ts';
import { type Contracts, readContracts } from './facts.ts';
import { nameContact, setUp, turnOff } from './guardian.ts';
import { keysOf, readSigned, type Signed, tick, writeHome, writeMoney } from './home.ts';
import { join, showCode } from './join.ts';
import { keep, release } from './keep.ts';
import { editKey, pick } from './keys.ts';
import { recover, wait } from './lost.ts';
import { tellHeld } from './managers.ts';
import { move } from './move.ts';
import type { World } from './operate.ts';
import { resume } from './perform.ts';
import { leaves, needPasskeys } from './place.ts';
import { guard, showUnreached } from './problem.ts';
import { signedIn, signInto, signOut, start, writeAccounts } from './session.ts';
import { stop, stopByMail } from './stop.ts';
import { take } from './take.ts';
import { element, fill, loading, onPress, press, say, show, shown, writeNetwork } from './view.ts';

/** How often the account is read again while it is looked at. */
const REFRESH_MS = 20_000;

type Place = World & { readonly contracts: Contracts };
let place: Place | undefined;

/** Goes to a screen. The same one again is drawn again. */
function go(hash: string): void {
  if (location.hash.slice(1) === hash) route();
  else location.hash = hash;
}

const home = () => go('');

/** Counts what was asked for: an answer that comes late draws nothing over what the person went to since. */
let turns = 0;

const route = () => openUnless(() => false);

function openUnless(isOver: () => boolean): void {
  const turn = ++turns;
  const isLate = () => turn !== turns || isOver();
  guard(() => open(isLate), { again: route, isLate });
}

async function open(isLate: () => boolean): Promise<void> {
  if (!place) {
    loading(word('loading'));
    const [config, contracts, enclave] = await Promise.all([readConfig(), readContracts(), loadEnclave()]);
    if (isLate() || leaves(config)) return;
    writeNetwork('chain', config);
    place = { config: { ...config, factory2: contracts.factory2 }, contracts, enclave };
  }
  const [name = '', value = ''] = location.hash.slice(1).split('=');
  if (name === 'join' || name === 'recover') needPasskeys();
  if (name === 'join') return join(place, value);
  if (resume(place)) return;
  if (name === 'recover') return recover(place, home);
  if (name === 'waiting') return wait(value);
  if (name === 'out') signOut();
  if (name === 'into' || name === 'stop') await lookAt(value);
  const accounts = await signedIn();
  if (isLate()) return;
  const [account] = accounts;
  const wanted = name === 'stop' && account?.address !== value;
  if (wanted) return start(place, route, word('start.to_stop'), () => stopByMail(value, route));
  if (!account) needPasskeys();
  if (!account && name === 'keep') return start(place, route, word('start.to_keep'));
  if (!account) return start(place, home);
  if (shown() !== 'home') loading(word('loading'));
  const signed = await readSigned(place, account);
  if (isLate()) return;
  fill('key-name', '');
  await openScreen(signed, accounts, [name, value]);
}

/** Looks at another account of this device, where it is one. */
async function lookAt(address: string): Promise<void> {
  const known = (await readAccounts()).find((one) => one.address === address.toLowerCase());
  if (known) await signInto(known);
}

async function openScreen(
  signed: Signed,
  accounts: readonly Account[],
  [name, value]: readonly string[],
): Promise<void> {
  const key = name === 'key' ? keysOf(signed).find(({ index }) => String(index) === value) : undefined;
  if (key) return editKey(signed, key, home);
  if (name === 'add' && signed.account.kind === 2) return pick(signed, home);
  if (name === 'address') return pickAddress(signed);
  const { registration } = signed;
  if (name === 'keep' && registration) return keep(signed, registration, home, value ?? '');
  const [challenge] = registration?.challenges ?? [];
  if (name === 'release' && challenge) return release(signed, challenge, home);
  if (name === 'qr') return showCode(signed, () => go('qr'));
  if (name === 'guard') return setUp(signed, home);
  if (name === 'unguard') return turnOff(signed, home);
  if (name === 'contact') return nameContact(signed, home);
  if (name === 'move' && signed.account.kind === 1) return move(signed, home);
  if (name === 'take') return take(signed);
  if (name === 'statement' && signed.states) return state(signed);
  showHome(signed, accounts);
}

/** The screen of statements, which is a file of its own. */
async function state(signed: Signed): Promise<void> {
  const statement = (await import(STATEMENT).catch((cause) => {
    throw new UnreachableError(STATEMENT, { cause });
  })) as { state: (signed: Signed) => void };
  statement.state(signed);
}

/** A name that the bundler leaves alone. */
const STATEMENT = '/account/statement.js' as string;

function pickAddress(signed: Signed): void {
  pick(signed, home);
  element<HTMLDetailsElement>('pick-address').open = true;
  element('owner').focus();
}

/** The state that the home screen shows. An unchanged state is not drawn again, as drawing loses focus and presses. */
let drawn = '';

function showHome(signed: Signed, accounts: readonly Account[]): void {
  const isFresh = shown() !== 'home';
  const stopIt = () =>
    stop(signed, home, (words) => {
      home();
      say(words);
    });
  const now = JSON.stringify([signed.facts, signed.registration, accounts]);
  if (isFresh || now !== drawn) {
    writeHome(signed, { stop: stopIt, keep: () => go('keep'), release: () => go('release'), go });
    writeAccounts(accounts, home);
    tellHeld(signed);
  }
  drawn = now;
  if (isFresh) show('home');
  void writeMoney(signed);
}

onPress('copy', () => {
  void navigator.clipboard.writeText(element('full').textContent ?? '').then(() => say(word('copied')));
});
onPress('sign-out', () => {
  signOut();
  home();
});
for (const button of document.querySelectorAll<HTMLElement>('[data-home]')) press(button, home);

addEventListener('hashchange', route);
setInterval(tick, 1_000);
setInterval(() => {
  // A person who went on meanwhile, to stop a recovery, is not led back.
  if (shown() === 'home' && document.visibilityState === 'visible' && location.hash.length < 2)
    openUnless(() => shown() !== 'home');
}, REFRESH_MS);
void loadWords('account').then((hasWords) => (hasWords ? route() : showUnreached()));
