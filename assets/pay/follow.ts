// A signed payment on the page: its way to a block, what can be done while it is not confirmed, and how it ends.

import { NoAccountError } from '../../client/wallet/account.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { PasskeyError } from '../../client/wallet/passkey.ts';
import { FeeBoundError } from '../../client/wallet/send.ts';
import { type Config, RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import { endOf, type Verdict } from '../wallet/judge.ts';
import { spoken, word } from '../words/words.ts';
import type { Channel } from './channel.ts';
import { SIGNING_MS_MIN, SLOW_MS } from './constants.ts';
import { leave, showPaid, showProblem } from './outcome.ts';
import { detailsOf, EndedError, resend, submit } from './pay.ts';
import { canRenew, LacksError, type Renewal, renew } from './renew.ts';
import { findLiveHash, type StoredPayment } from './store.ts';
import { onPress, shownPart, showPart, step, toggle, write, writeDetail } from './view.ts';
import { watch } from './watch.ts';
import { signOf, wordsOf } from './words.ts';

/** What it takes to follow a payment that was signed. */
export interface Following {
  readonly channel: Channel;
  readonly config: Config;
  readonly enclave: Enclave;
  /** When the shop's request ends; undefined if it is gone. */
  readonly endsBy: number | undefined;
  /** Pays again, once it is proved that nothing was paid. */
  readonly restart: () => void;
}

/** Sends what is not sent, and follows the payment until it is decided. Throws `EndedError` if nothing was sent. */
export async function follow(of: Following, stored: StoredPayment): Promise<void> {
  showProgress('send');
  const record = await submit(stored, of.channel);
  tellShop(of, record);
  const screen = createScreen(of, record);
  screen.show(record, undefined);
  conclude(of, await watch(record, ({ record: now, verdict }) => screen.show(now, verdict)));
}

/** Marks how far the payment is. */
export function showProgress(current: 'sign' | 'send' | 'block'): void {
  if (shownPart() !== 'progress') showPart('progress');
  step(current);
}

/** From here on the shop knows where to look, also if this window is closed. */
function tellShop({ channel, enclave }: Following, record: StoredPayment): void {
  const version = record.versions.at(-1);
  if (record.state !== 'unconfirmed' || !version) return;
  const { account } = detailsOf(record, enclave);
  channel.pending({ userOpHash: version.userOpHash, account, endsAt: version.validUntil ?? null });
}

function createScreen(of: Following, first: StoredPayment) {
  const slowAt = Date.now() + SLOW_MS;
  let [record, verdict]: [StoredPayment, Verdict | undefined] = [first, undefined];
  /** A passkey is being asked, or the person has left. */
  let isBusy = false;
  const show = (now: StoredPayment, seen: Verdict | undefined) => {
    [record, verdict] = [now, seen];
    if (isBusy) return;
    const isSlow = Date.now() > slowAt;
    if (!isSlow && isSmooth(record, verdict)) return showProgress('block');
    writePending(record, verdict, isSlow);
    if (shownPart() !== 'pending') showPart('pending');
  };
  const act = async (work: () => Promise<StoredPayment>) => {
    isBusy = true;
    write('pending-notice', undefined);
    try {
      record = await work();
      tellShop(of, record);
    } catch (error) {
      write('pending-notice', troubleOf(error));
    }
    isBusy = false;
    show(record, verdict);
  };
  const sign = (how: Renewal) => act(() => renew(record, how, of));
  write('pending-notice', undefined);
  onPress('again', () => void (record.answer?.is === 'refused' ? sign('again') : act(() => resend(record))));
  onPress('raise', () => void sign('raise'));
  onPress('void', () => void sign('void'));
  onPress('pending-leave', () => {
    isBusy = true;
    const back = () => {
      isBusy = false;
      show(record, verdict);
    };
    void leave('unconfirmed', { channel: of.channel, again: back, findLive: () => findLiveHash(record.name) });
  });
  return { show };
}

/** Whether a block will likely have it soon. */
function isSmooth({ answer, versions }: StoredPayment, verdict: Verdict | undefined): boolean {
  const isOpen = verdict?.is !== 'open' || verdict.sign === 'none';
  return isOpen && (answer?.is ?? 'taken') === 'taken' && versions.at(-1)?.kind === 'pay';
}

function writePending(record: StoredPayment, verdict: Verdict | undefined, isSlow: boolean): void {
  const { answer, versions } = record;
  const newest = versions.at(-1);
  const sign = verdict?.is === 'open' ? verdict.sign : 'none';
  const isOpen = sign === 'none';
  const isVoiding = newest?.kind === 'void';
  const sent = isVoiding ? 'voiding' : (answer?.is ?? sign);
  const words = signOf(verdict === undefined && isSlow ? 'away' : isOpen ? sent : sign);
  write('pending-words', isOpen ? `${words} ${endWords(record)}` : words);
  const seen = verdict?.is === 'open' ? verdict.operation : undefined;
  const detail = [
    answer?.words,
    word('User operation {hash}', { hash: newest?.userOpHash ?? '' }),
    seen && word('Transaction {hash}', { hash: seen.txHash }),
  ];
  writeDetail('pending', detail.filter(Boolean).join('\n'));
  toggle('again', isOpen && (answer?.is !== 'refused' || canRenew(record, isVoiding ? 'raise' : 'again')));
  toggle('raise', isOpen && isSlow && canRenew(record, 'raise'));
  toggle('void', isOpen && !isVoiding);
}

function endWords(record: StoredPayment): string {
  const end = endOf(record);
  if (end === Infinity) return word('pending.endless');
  return word('It ends at {time}.', { time: new Date(end * 1000).toLocaleTimeString(spoken()) });
}

function troubleOf(error: unknown): string {
  if (error instanceof PasskeyError) return word('trouble.passkey');
  if (error instanceof EndedError) return word('trouble.ending');
  if (error instanceof LacksError) return word('trouble.lacks');
  if (error instanceof UnreachableError) return wordsOf('down').join('. ');
  if (error instanceof NoAccountError) return wordsOf('no_key').join('. ');
  if (error instanceof FeeBoundError) return wordsOf('fee_bound').join('. ');
  if (error instanceof RefusedError) return word('The network answered: {answer}', { answer: error.message });
  console.error(error);
  return word('trouble.other');
}

function conclude({ channel, config, enclave, endsBy = 0, restart }: Following, record: StoredPayment): void {
  if (record.state === 'paid') {
    const details = detailsOf(record, enclave);
    channel.answer(details);
    const { block, final } = record.paid ?? {};
    const place = final ? word('{block}, final', { block: String(block) }) : String(block);
    showPaid(details, channel, { ...record, place, explorer: config.explorer });
    return;
  }
  // A nonce that is not spent can be used by what remains of the request.
  const again = record.state === 'ended' && endsBy - Date.now() > SIGNING_MS_MIN ? restart : undefined;
  showProblem(record.why ?? 'ended', { channel, again, findLive: () => findLiveHash(record.name) });
}
