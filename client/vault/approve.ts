import type { ApprovalAnswer } from '../approval-question.ts';
import { fault } from './error.ts';
import { askPopup, followLink, openPage, returnedBy } from './page.ts';
import type { Payer, PayOptions } from './pay.ts';

/** What somebody shall approve, as your server made it. */
export interface ApproveRequest {
  /** Prose of 1 to 1,000 characters, all of them visible. */
  readonly text: string;
  /** ISO 8601 with its zone, at most a day ahead. */
  readonly expires: string;
  /** Your server's name of the request; a random one, if absent. */
  readonly id?: string;
}

/** How it is shown: in a popup, and where that is blocked by a link. */
export interface ApproveOptions {
  readonly via?: 'popup' | 'link';
  /** Where a link leads back to; this page, if absent. */
  readonly returnUrl?: string;
  /** If absent, the last person who signed up or in with this client. */
  readonly person?: Payer | undefined;
}

/** A request of the page. `answered` makes the result of its answer: here, where no link may lead away. */
export interface Asked {
  readonly shown: object;
  readonly answered?: (answer: never) => object;
}

/** The result of an approval by link. */
export interface ApproveReturn extends Partial<ApprovalAnswer> {
  readonly id: string;
  readonly error?: string;
}

/**
 * Has the page show a request to the person, whose passkey signs it; call it from a click. Rejects with the page's
 * word, such as `cancelled`, with `not_approved`, or with a `TypeError` that names the member that is missing or wrong.
 */
export async function approve<Answer = ApprovalAnswer>(
  url: string,
  asked: Promise<Asked>,
  { via, returnUrl }: Pick<PayOptions, 'via' | 'returnUrl'>,
): Promise<Answer> {
  const { origin } = new URL(url);
  const popup = via === 'link' ? null : openPage('approve', origin);
  const answer =
    popup &&
    (await askPopup<Answer>(
      'approve',
      popup,
      asked.then(({ shown }) => shown),
    ));
  const { shown, answered } = await asked;
  if (answer) return (answered?.(answer as never) ?? answer) as Answer;
  if (via === 'popup' || answered) throw fault('approval_blocked');
  return followLink('approve', origin, shown, returnUrl);
}

/**
 * The result with which an approval by link returned to this page; undefined if there is none. It is read once: the
 * address is cleared.
 */
export function approved(): ApproveReturn | undefined {
  return returnedBy('approve');
}
