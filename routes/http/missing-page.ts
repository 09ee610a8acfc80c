import { asVaultError } from '../../lib/base/error.ts';
import type { Context } from '../../lib/context.ts';
import { QUIET_PAGE_HEADERS } from './page.ts';
import type { Reply } from './response.ts';
import type { Route } from './route.ts';

/**
 * The page for a browser that opens a path where nothing is, or a page that this vault does not offer; undefined for
 * programs, operations and other errors, and where the host has no files. Never throws.
 */
export async function missingPage(
  { files }: Pick<Context, 'files'>,
  request: Request,
  route: Route | undefined,
  error: unknown,
): Promise<Reply | undefined> {
  if (!isOpened(request) || (route && !route.isPage) || asVaultError(error).code !== 'not_found') return undefined;
  const page = await files('/landing/missing.html').catch(() => undefined);
  return page && { status: 404, headers: { ...QUIET_PAGE_HEADERS, ...HTML }, body: page.bytes };
}

const HTML = { 'content-type': 'text/html; charset=utf-8', vary: 'accept' };

/** A browser that opens a page names HTML first; scripts, images and `fetch` do not. */
function isOpened({ method, headers }: Request): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\s*text\/html\b/i.test(headers.get('accept') ?? '');
}
