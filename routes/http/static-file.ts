import { VaultError } from '../../lib/base/error.ts';
import type { File } from '../../lib/static-files.ts';
import type { Reply } from './response.ts';
import { get } from './route.ts';

interface Served {
  /** The asset's path, where it is not the route's own. */
  readonly asset?: string;
  readonly type: string;
  /** A sentence for the document where the path does not describe the file. */
  readonly summary?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A route that serves a file: strong `ETag` and 304 (RFC 9110 §13), gzip by `Accept-Encoding`, `Cache-Control:
 * no-cache` unless `headers` say otherwise.
 */
export function file<P extends string>(
  path: P,
  { asset = path, type, summary = `The file ${path}`, headers = {} }: Served,
) {
  return get(path, {
    summary,
    isPage: true,
    answers: {
      200: { media: type, about: 'The file' },
      304: { media: null, about: 'The file that `If-None-Match` names' },
    },
    errors: ['not_found'],
    async handler({ ctx, request }) {
      const found = await ctx.files(asset);
      if (!found) throw noFiles();
      return fileReply(request, found, { 'content-type': type, 'cache-control': 'no-cache', ...headers });
    },
  });
}

/** The 404 of a file: only a host that gave no `assets` lacks one. */
export function noFiles(): VaultError {
  return new VaultError('not_found', { hint: NO_FILES });
}

const NO_FILES =
  'This vault was embedded without its files. Give createVault `assets`, such as packageAssets() of vault/node.';

/** The reply with a file; `vary` names what else it depends on besides the encoding. */
export async function fileReply(
  request: Request,
  found: File,
  given: Readonly<Record<string, string>>,
  vary?: string,
): Promise<Reply> {
  const zipped = takesGzip(request) ? await found.gzip() : undefined;
  // Content that compression does not shrink, such as a PNG, is sent unchanged.
  const isSmaller = zipped !== undefined && zipped.length < found.bytes.length;
  // Two encodings are two representations, and a strong tag names one of them.
  const etag = isSmaller ? `${found.etag.slice(0, -1)}-gzip"` : found.etag;
  const headers = { ...given, etag, vary: vary === undefined ? 'accept-encoding' : `accept-encoding, ${vary}` };
  if (isNamed(request.headers.get('if-none-match'), etag)) return { status: 304, headers, body: null };
  if (!isSmaller) return { status: 200, headers, body: found.bytes };
  return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: zipped };
}

/** RFC 9110 §12.5.3: gzip named or `*`, with a weight above zero and not below that of the file as it is. */
function takesGzip(request: Request): boolean {
  const weights = new Map<string, number>();
  for (const part of (request.headers.get('accept-encoding') ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((word) => word.trim());
    const weight = parameters.find((word) => word.startsWith('q='))?.slice(2);
    weights.set(coding, weight === undefined ? 1 : Number(weight));
  }
  const weight = weights.get('gzip') ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}

/** RFC 9110 §13.1.2: compared weakly, so a cache's `W/` does not hide a match. */
export function isNamed(header: string | null, etag: string): boolean {
  if (header?.trim() === '*') return true;
  // Not split at commas, which a tag may contain.
  return header?.match(/"[^"]*"/g)?.includes(etag) ?? false;
}
