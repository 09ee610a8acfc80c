// A signed payment on the page: its way to a block, the choices while it is not confirmed, and its end.

import type { Enclave } from '../../client/wallet/enclave.ts';
import type { Config } from '../../client/wallet/vault.ts';
import type { Verdict } from '../wallet/judge.ts';
import { word } from '../words/words.ts';
import type { Channel } from './channel.ts';
import { SIGNING_MS_MIN, SLOW_MS } from './constants.ts';
import { leave, showPaid, showProblem } from './outcome.ts';
import { detailsOf, resend, submit } from './pay.ts';
import { pendingOf, troubleOf } from './pending.ts';
import { type Renewal, renew } from './renew.ts';
import { findLiveHash, type StoredPayment } from './store.ts';
import { onPress, shownPart, showPart, step, toggle, write, writeDetail } from './view.ts';
import { watch } from './watch.ts';

/** The parts needed to follow a signed payment. */
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
    const pending = pendingOf(record, verdict, Date.now() > slowAt);
    if (!pending) return showProgress('block');
    write('pending-words', pending.words);
    writeDetail('pending', pending.detail);
    for (const [id, isThere] of Object.entries(pending.buttons)) toggle(id, isThere);
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

function conclude({ channel, config, enclave, endsBy = 0, restart }: Following, record: StoredPayment): void {
  if (record.state === 'paid') {
    const details = detailsOf(record, enclave);
    channel.answer(details);
    const { block, final } = record.paid ?? {};
    const place = word(final ? 'receipt.final' : 'receipt.confirmed', { block: String(block) });
    showPaid(details, channel, { ...record, place, explorer: config.explorer });
    return;
  }
  // The rest of the request's time can use a nonce that is not spent.
  const again = record.state === 'ended' && endsBy - Date.now() > SIGNING_MS_MIN ? restart : undefined;
  showProblem(record.why ?? 'ended', { channel, again, findLive: () => findLiveHash(record.name) });
}
