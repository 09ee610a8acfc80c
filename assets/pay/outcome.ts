// The last screen of a payment, and the ways back to the shop.
import { hostOf } from '../wallet/asker.ts';
import { printable } from '../wallet/printable.ts';
import { copyOnPress, make } from '../wallet/view.ts';
import { spoken, word } from '../words/words.ts';
import type { Channel, Details, Failure } from './channel.ts';
import type { Receipt } from './receipt.ts';
import { element, onPress, shownPart, showPart, toggle, write, writeAmount, writeDetail } from './view.ts';
import { type Problem, wordsOf } from './words.ts';

/** A settled payment, and where its transaction can be looked at. */
export interface Settled {
  /** Absent where an earlier release stored the payment. */
  readonly receipt?: Receipt | undefined;
  readonly changedAt: number;
  /** Where in the chain, such as `Final, in block 15`. */
  readonly place?: string;
  readonly explorer: string | null | undefined;
}

/** Shows a settled payment. */
export function showPaid(details: Details, { asked, returnTo }: Channel, settled: Settled): void {
  const { origin, via } = asked.asker;
  const { receipt } = settled;
  writeAmount('paid-amount', receipt?.amount ?? '');
  const shop = hostOf(origin);
  const words = via === 'link' ? word('done.link', { shop }) : word('done.browser', { shop });
  write('done-words', words);
  writeReceipt(details, settled);
  offerReturn('return', returnTo?.(details), origin);
  toggle('close', !returnTo);
  onPress('close', () => window.close());
  onPress('print', () => print());
  showPart('done');
}

function writeReceipt({ txHash }: Details, { receipt, changedAt, place, explorer }: Settled): void {
  const url = explorer ? `${explorer}/tx/${txHash}` : undefined;
  const rows: readonly (readonly [string, string | undefined, string?])[] = [
    [word('receipt.amount'), receipt?.amount],
    [word('review.to'), receipt?.to, 'mono'],
    [word('review.for'), receipt?.label],
    [word('receipt.time'), new Date(changedAt).toLocaleString(spoken(), TIME)],
    [word('receipt.reference'), receipt && printable(receipt.id), 'mono'],
    [word('receipt.state'), place],
    [word('receipt.transaction'), txHash, 'mono'],
  ];
  const shown = rows.flatMap(([term, text, look = '']) => {
    if (text === undefined) return [];
    const value = make('bdi', '', text);
    const link = text === txHash && url ? linkTo(url, value) : value;
    return [make('div', '', make('dt', '', term), make('dd', look, link))];
  });
  element('receipt').replaceChildren(...shown);
  const lines = rows.flatMap(([term, text]) => (text === undefined ? [] : [`${term}: ${text}`]));
  copyOnPress('copy', [...lines, ...(url ? [url] : [])].join('\n'));
}

const TIME = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
} as const;

/** A link to the explorer, which does not learn where it was followed. */
function linkTo(url: string, text: HTMLElement): HTMLElement {
  const link = make('a', '', text) as HTMLAnchorElement;
  link.href = url;
  link.target = '_blank';
  link.rel = 'noreferrer';
  return link;
}

interface Around {
  /** Undefined if no one is left to answer. */
  readonly channel: Channel | undefined;
  /** Tries again; undefined where that cannot help. */
  readonly again: (() => void) | undefined;
  readonly detail?: string | undefined;
  /** Looks for an operation of this order that may still be paid: then the shop gets only that. */
  readonly findLive: () => Promise<string | undefined>;
}

/** Shows what went wrong. */
export function showProblem(problem: Problem, around: Around, known: Failure = { error: wordOf(problem) }): void {
  const { channel, again, detail } = around;
  const [title, words] = wordsOf(problem);
  write('problem-title', title);
  write('problem-words', words);
  writeDetail('problem', detail || undefined);
  toggle('retry', again !== undefined);
  if (again) onPress('retry', again);
  onPress('leave', () => void leave(problem, around));
  const { returnTo, asked } = channel ?? {};
  offerReturn('leave-link', returnTo?.(known), asked?.asker.origin ?? '');
  element('leave-link').onclick = (event) => {
    event.preventDefault();
    // Another tab may have paid since.
    if (event.isTrusted) void failureOf(problem, around).then((failure) => location.assign(returnTo?.(failure) ?? ''));
  };
  toggle('leave', !returnTo);
  showPart('problem');
}

/** Reports the problem to the shop and closes the window. After a link, offers the link back instead. */
export async function leave(problem: Problem, around: Around): Promise<void> {
  const { channel } = around;
  const failure = await failureOf(problem, around);
  channel?.cancel(failure.error);
  if (channel?.returnTo && shownPart() !== 'problem') showProblem(problem, around, failure);
  else window.close();
}

/** The failure reported to the shop: of the order as it is now, not as it was when the problem was shown. */
async function failureOf(problem: Problem, { findLive }: Around): Promise<Failure> {
  const userOpHash = await findLive().catch(() => '');
  if (userOpHash === undefined) return { error: wordOf(problem) };
  return { error: 'unconfirmed', ...(userOpHash === '' ? {} : { userOpHash }) };
}

function wordOf(problem: Problem): string {
  return problem === 'ending' ? 'expired' : problem;
}

/** A link to where the answer goes, which it names; followed by the person alone. */
function offerReturn(id: string, href: string | undefined, origin: string): void {
  const link = element(id) as HTMLAnchorElement;
  if (href !== undefined) link.href = href;
  write(id, href === undefined ? undefined : word('done.return_to', { shop: hostOf(origin) }));
}
