// The last screen of a payment, and the ways back to the shop.
import type { Channel, Details } from './channel.ts';
import { hostOf } from './review.ts';
import { element, onPress, shownPart, showPart, toggle, write } from './view.ts';
import { PROBLEMS, type Problem } from './words.ts';

/** Shows a settled payment. */
export function showPaid(details: Details, { asked, returnTo }: Channel): void {
  const { origin, via } = asked.asker;
  write('transaction', details.txHash);
  const shop = hostOf(origin);
  const words =
    via === 'link'
      ? `${shop} gets the receipt when you return.`
      : `Your browser sends the receipt to ${shop}. The shop can ask for it again.`;
  write('done-words', words);
  offerReturn('return', returnTo?.(details), origin);
  toggle('close', !returnTo);
  onPress('close', () => window.close());
  showPart('done');
}

interface Around {
  /** Undefined if no one is left to answer. */
  readonly channel: Channel | undefined;
  /** What trying again does, where that can help. */
  readonly again: (() => void) | undefined;
  readonly detail?: string | undefined;
}

/** Shows what went wrong. */
export function showProblem(problem: Problem, { channel, again, detail }: Around): void {
  const [title, words] = PROBLEMS[problem];
  write('problem-title', title);
  write('problem-words', words);
  write('problem-detail', detail || undefined);
  toggle('retry', again !== undefined);
  if (again) onPress('retry', again);
  onPress('leave', () => leave(problem, channel));
  const { returnTo, asked } = channel ?? {};
  // While it may be on its way, there is nothing to tell.
  const href = problem === 'unknown' ? undefined : returnTo?.({ error: problem });
  offerReturn('leave-link', href, asked?.asker.origin ?? '');
  toggle('leave', !returnTo);
  showPart('problem');
}

/** Reports the problem to the shop and closes the window. After a link, offers the link back instead. */
export function leave(problem: Problem, channel: Channel | undefined): void {
  channel?.cancel(problem);
  if (channel?.returnTo && shownPart() !== 'problem') showProblem('cancelled', { channel, again: undefined });
  else window.close();
}

/** A link to where the answer goes, which it names; followed by the person alone. */
function offerReturn(id: string, href: string | undefined, origin: string): void {
  const link = element(id) as HTMLAnchorElement;
  if (href !== undefined) link.href = href;
  write(id, href === undefined ? undefined : `Return to ${hostOf(origin)}`);
}
