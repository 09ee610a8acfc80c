// A page of the vault that asks the person something, in a popup or by a link.
import { utf8 } from '../bytes.ts';
import { fromBase64url, toBase64url } from '../wallet/bytes.ts';
import { fault, parseJson, VaultClientError } from './error.ts';

/** What is asked: the name of its messages, and where its page is. */
const PATHS = { pay: 'pay/confirm', approve: 'approve' } as const;

/** What is asked. */
export type Asked = keyof typeof PATHS;

interface Popup {
  readonly origin: string;
  readonly window: Window;
}

/** Opens the page; call it before anything is waited for: browsers open windows for clicks alone. Null if blocked. */
export function openPage(what: Asked, origin: string): Popup | null {
  const query = `mode=popup&origin=${encodeURIComponent(location.origin)}`;
  const popup = window.open(`${origin}/${PATHS[what]}?${query}`, `vault-${what}`, 'popup,width=480,height=760');
  return popup && { origin, window: popup };
}

/**
 * Gives the page what it shall ask. It says once that it is ready, perhaps before that is known. Rejects with the
 * page's word, or that it was left.
 */
export function askPopup<Details>(what: Asked, { origin, window: popup }: Popup, shown: Promise<object>) {
  return new Promise<Details>((resolve, reject) => {
    // Once signed and sent it may be paid, though the window is left: your server finds out.
    let sent: Details | undefined;
    const end = () => {
      clearInterval(timer);
      removeEventListener('message', hear);
    };
    const leave = (word: string) => {
      end();
      if (sent) resolve(sent);
      else reject(new VaultClientError(word));
    };
    const ask = (request: object) => popup.postMessage({ vault: what, type: 'request', ...request }, origin);
    const fail = (error: unknown) => {
      end();
      popup.close();
      reject(error);
    };
    const hear = ({ source, origin: from, data }: MessageEvent) => {
      if (source !== popup || from !== origin || data?.vault !== what) return;
      if (data.type === 'ready') shown.then(ask, fail);
      if (data.type === 'pending' || data.type === 'answer') sent = data.details;
      if (data.type === 'cancel' && data.reason !== 'unconfirmed') sent = undefined;
      if (data.type === 'answer' || data.type === 'cancel') leave(data.reason);
      // A receipt is for the person to read.
      if (data.type === 'answer' && what === 'approve') popup.close();
    };
    // A window says its word and closes: it may be seen closed before the word is here. One more look lets it come.
    let wasClosed = false;
    const timer = setInterval(() => {
      if (wasClosed) leave(`not_${what === 'pay' ? 'paid_yet' : 'approved'}`);
      wasClosed = popup.closed;
    }, 500);
    addEventListener('message', hear);
    shown.catch(fail);
  });
}

/** Leaves this page. One that the browser brings back as it was has no answer. */
export function followLink(
  what: Asked,
  origin: string,
  request: object,
  returnUrl = location.origin + location.pathname,
): Promise<never> {
  const text = toBase64url(utf8(JSON.stringify({ ...request, returnUrl })));
  location.href = `${origin}/${PATHS[what]}?mode=redirect&request=${text}`;
  return new Promise((_, reject) =>
    addEventListener(
      'pageshow',
      (event) =>
        (event as PageTransitionEvent).persisted && reject(fault(what === 'pay' ? 'not_paid_yet' : 'not_approved')),
    ),
  );
}

/** What a link led back to this page with; undefined if there is nothing. It is read once: the address is cleared. */
export function returnedBy<Result extends { readonly id: string }>(what: Asked): Result | undefined {
  const text = new RegExp(`^#vault-${what}=([\\w-]+)$`).exec(location.hash)?.[1];
  if (text === undefined) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    const found = parseJson(new TextDecoder().decode(fromBase64url(text))) as Result | null | undefined;
    return typeof found?.id === 'string' ? found : undefined;
  } catch {
    // Anybody can write a link to this page.
    return undefined;
  }
}
