// Pages of the dev stack: HTML, a style over the vault's design, and a script, all of one folder. Nothing is inline.
import { join } from 'node:path';

const DESIGN = join(import.meta.dir, '../../assets/design');

/** The origins that a page may reach beside its own server. */
export interface Reach {
  /** Origins whose scripts and icons it loads, and which it asks. */
  readonly origins?: readonly string[];
  /** Whether it frames pages of its own server. */
  readonly isFraming?: boolean;
}

/** The files of a page; undefined for any other path. `values` take the places `{{name}}` in the HTML. */
export interface LocalPage {
  answer(pathname: string, values?: Readonly<Record<string, string>>): Response | undefined;
}

/** Reads a folder's `index.html`, `style.css`, `icon.svg` and `page.ts`, and bundles the last. */
export async function loadPage(folder: string, reach: Reach = {}): Promise<LocalPage> {
  const read = (path: string) => Bun.file(path).text();
  const styles = [join(DESIGN, 'tokens.css'), join(DESIGN, 'parts.css'), join(folder, 'style.css')];
  const { outputs } = await Bun.build({ entrypoints: [join(folder, 'page.ts')], target: 'browser', format: 'esm' });
  const [html, icon, script = '', ...css] = await Promise.all([
    read(join(folder, 'index.html')),
    read(join(folder, 'icon.svg')),
    outputs[0]?.text(),
    ...styles.map(read),
  ]);
  const headers = headersOf(reach);
  const file = (type: string, text: string) =>
    new Response(text, { headers: { ...headers, 'content-type': `${type}; charset=utf-8` } });
  return {
    answer(pathname, values = {}) {
      if (pathname === '/') return file('text/html', fill(html, values));
      if (pathname === '/page.js') return file('text/javascript', script);
      if (pathname === '/style.css') return file('text/css', css.join('\n'));
      if (pathname === '/icon.svg') return file('image/svg+xml', icon);
      return undefined;
    },
  };
}

function headersOf({ origins = [], isFraming = false }: Reach): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...origins].join(' '),
    "style-src 'self'",
    // The browser shows a payment handler by its icon, and loads that as the page's.
    ["img-src 'self'", ...origins].join(' '),
    ["connect-src 'self'", ...origins].join(' '),
    ...(isFraming ? ["frame-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    // A popup of the vault's answers the page that opened it.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
}

function fill(html: string, values: Readonly<Record<string, string>>): string {
  return html.replace(/\{\{(\w+)\}\}/g, (_, name) => escapeHtml(values[name] ?? ''));
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Whether a request names this machine: a page elsewhere that leads its own name here gets nothing. */
export function isLocal(request: Request): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(request.url).hostname);
}
