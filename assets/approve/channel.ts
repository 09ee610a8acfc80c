// How a request comes in and its answer goes out: the window that opened this one, or a link.
import { utf8 } from '../../client/bytes.ts';
import { toBase64url } from '../../client/wallet/bytes.ts';
import { type Asker, parseLink, readReturnUrl } from '../wallet/asker.ts';
import { hearOpener, NoRequestError } from '../wallet/opener.ts';
import type { Answer } from './sign.ts';

/** The connection to the app for one request. Only `answer` reveals the account. */
export interface Channel {
  readonly asker: Asker;
  readonly asked: Readonly<Record<string, unknown>>;
  /** Whether the app waits still: then it may get an answer. */
  isOpen(): boolean;
  answer(answer: Answer): void;
  /** `reason` is a word for programs. */
  cancel(reason: string): void;
  /** Called when the app withdraws its request. */
  onAbort: () => void;
}

/** Connects to the request that this page was opened for. Throws `NoRequestError`. */
export async function openChannel({ search }: Pick<Location, 'search'>): Promise<Channel> {
  const query = new URLSearchParams(search);
  const mode = query.get('mode');
  if (mode === 'popup') return fromOpener(query.get('origin') ?? '');
  if (mode === 'redirect') return fromLink(query.get('request') ?? '');
  throw new NoRequestError();
}

async function fromOpener(origin: string): Promise<Channel> {
  const line = await hearOpener('approve', origin);
  const leave = (message: object) => {
    line.say(message);
    window.close();
  };
  const channel: Channel = {
    asker: { via: 'opener', origin, frame: undefined },
    asked: line.request,
    isOpen: line.isOpen,
    answer: (details) => leave({ type: 'answer', details }),
    cancel: (reason) => leave({ type: 'cancel', reason }),
    onAbort: () => undefined,
  };
  line.onAbort = () => channel.onAbort();
  return channel;
}

/** A link does not show its author: the origin shown, and signed for, is the one that the answer goes to. */
function fromLink(request: string): Channel {
  const { returnUrl, ...asked } = parseLink(request);
  const url = readReturnUrl(returnUrl);
  if (!url) throw new NoRequestError();
  const leave = (outcome: object) => {
    // In the fragment, which stays in the browser: neither logs nor other sites see the account.
    const text = JSON.stringify({ id: asked['id'], ...outcome });
    url.hash = `vault-approve=${toBase64url(utf8(text))}`;
    location.assign(url.href);
  };
  return {
    asker: { via: 'link', origin: url.origin, frame: undefined },
    asked,
    isOpen: () => true,
    answer: leave,
    cancel: (error) => leave({ error }),
    onAbort: () => undefined,
  };
}
