import { createHash, randomUUID } from 'node:crypto';
import { type S3Credentials, signatureFault } from './signature.ts';

/** What a stand-in was asked, for a fault to choose by. */
export interface S3Request {
  readonly method: string;
  /** The object's key; empty for the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
}

/** Answers a request in place of the bucket; undefined lets the bucket answer. */
export type S3Fault = (request: S3Request) => Response | Promise<Response | undefined> | undefined;

/** A bucket that speaks the protocol of S3 over HTTP and checks each signature. */
export interface S3Bucket {
  readonly url: string;
  readonly name: string;
  readonly credentials: S3Credentials;
  readonly objects: Map<string, Buffer>;
  /** Uploads in parts that were begun and neither completed nor aborted. */
  readonly uploads: Map<string, Map<number, Buffer>>;
  /** Each request that came, as `PUT key?partNumber`. */
  readonly asked: string[];
  fail(fault: S3Fault | undefined): void;
  stop(): Promise<void>;
}

/** What Amazon asks of each part but the last. */
const PART_BYTES_MIN = 5 * 1024 * 1024;

/** Starts a bucket; `pageMax` keys are listed at once. */
export function startBucket({ port = 0, pageMax = 1_000 } = {}): S3Bucket {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: randomUUID(), region: 'eu-central-2' };
  const name = 'backups';
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const asked: string[] = [];
  let fault: S3Fault | undefined;
  const state = { name, objects, uploads, pageMax };

  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    maxRequestBodySize: 2 ** 40,
    async fetch(request) {
      const { pathname, searchParams: query } = new URL(request.url);
      const [bucket = '', ...rest] = decodeURIComponent(pathname).slice(1).split('/');
      const asks = { method: request.method, key: rest.join('/'), query };
      asked.push(`${request.method} ${asks.key}${[...query.keys()].map((key) => ` ${key}`).join('')}`);
      const failed = await fault?.(asks);
      if (failed) return failed;
      const body = Buffer.from(await request.arrayBuffer());
      const wrong = signatureFault(request, body, credentials);
      if (wrong !== undefined) return errorOf(wrong, 403);
      if (bucket !== name) return errorOf('NoSuchBucket', 404);
      const rangeHeader = request.headers.get('range') ?? undefined;
      return answer(state, { ...asks, body, rangeHeader });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    name,
    credentials,
    objects,
    uploads,
    asked,
    fail(given) {
      fault = given;
    },
    stop: () => server.stop(true),
  };
}

interface State {
  readonly name: string;
  readonly objects: Map<string, Buffer>;
  readonly uploads: Map<string, Map<number, Buffer>>;
  readonly pageMax: number;
}

interface Asked extends S3Request {
  readonly body: Buffer;
  readonly rangeHeader: string | undefined;
}

function answer(state: State, asked: Asked): Response {
  const { method, key, query } = asked;
  if (query.has('uploads') || query.has('uploadId')) return answerUpload(state, asked);
  if (key === '') return answerBucket(state, asked);
  const found = state.objects.get(key);
  if (method === 'PUT') {
    state.objects.set(key, asked.body);
    return new Response(null, { headers: { etag: etagOf(asked.body) } });
  }
  if (method === 'DELETE') {
    state.objects.delete(key);
    return new Response(null, { status: 204 });
  }
  if (found === undefined) return method === 'HEAD' ? new Response(null, { status: 404 }) : errorOf('NoSuchKey', 404);
  const headers = { etag: etagOf(found), 'last-modified': new Date().toUTCString(), 'accept-ranges': 'bytes' };
  if (method === 'HEAD') return new Response(null, { headers: { ...headers, 'content-length': String(found.length) } });
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(asked.rangeHeader ?? '') ?? [];
  if (asked.rangeHeader === undefined) return new Response(new Uint8Array(found), { headers });
  const start = Number(from);
  const end = Math.min(found.length, to === '' ? found.length : Number(to) + 1);
  const range = { 'content-range': `bytes ${start}-${end - 1}/${found.length}` };
  return new Response(new Uint8Array(found.subarray(start, end)), { status: 206, headers: { ...headers, ...range } });
}

function answerUpload({ name, objects, uploads }: State, { method, key, query, body }: Asked): Response {
  if (query.has('uploads')) {
    const id = randomUUID();
    uploads.set(id, new Map());
    const xml = `<Bucket>${name}</Bucket><Key>${xmlOf(key)}</Key><UploadId>${id}</UploadId>`;
    return xmlAnswer(`<InitiateMultipartUploadResult>${xml}</InitiateMultipartUploadResult>`);
  }
  const id = query.get('uploadId') ?? '';
  const parts = uploads.get(id);
  if (parts === undefined) return errorOf('NoSuchUpload', 404);
  if (method === 'PUT') {
    parts.set(Number(query.get('partNumber')), body);
    return new Response(null, { headers: { etag: etagOf(body) } });
  }
  if (method === 'DELETE') {
    uploads.delete(id);
    return new Response(null, { status: 204 });
  }
  const named = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => part);
  const chosen = named.map((xml) => {
    const part = parts.get(Number(/<PartNumber>(\d+)</.exec(xml)?.[1]));
    const tag = /<ETag>(.*?)<\/ETag>/.exec(xml)?.[1]?.replace(/&quot;|&#34;|"/g, '');
    return part && tag === etagOf(part).replaceAll('"', '') ? part : null;
  });
  if (chosen.length === 0 || chosen.includes(null)) return errorOf('InvalidPart', 400);
  const whole = chosen as Buffer[];
  if (whole.slice(0, -1).some(({ length }) => length < PART_BYTES_MIN)) return errorOf('EntityTooSmall', 400);
  objects.set(key, Buffer.concat(whole));
  uploads.delete(id);
  return xmlAnswer(`<CompleteMultipartUploadResult><Key>${xmlOf(key)}</Key></CompleteMultipartUploadResult>`);
}

function answerBucket({ name, objects, pageMax }: State, { method, query, body }: Asked): Response {
  if (method === 'HEAD') return new Response(null);
  if (query.has('location')) return xmlAnswer('<LocationConstraint>eu-central-2</LocationConstraint>');
  if (method === 'POST' && query.has('delete')) {
    for (const [, key = ''] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g)) objects.delete(key);
    return xmlAnswer('<DeleteResult></DeleteResult>');
  }
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? query.get('marker') ?? query.get('start-after') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const groupOf = (key: string) => {
    const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    return end < 0 ? key : key.slice(0, end + 1);
  };
  const entries = [...new Set([...objects.keys()].filter((key) => key.startsWith(prefix)).map(groupOf))].sort();
  const rest = entries.filter((key) => key > after);
  const page = rest.slice(0, Math.min(pageMax, Number(query.get('max-keys') ?? pageMax)));
  const xml = page.map((key) => {
    const object = objects.get(key);
    if (object === undefined) return `<CommonPrefixes><Prefix>${xmlOf(key)}</Prefix></CommonPrefixes>`;
    const facts = `<ETag>${xmlOf(etagOf(object))}</ETag><Size>${object.length}</Size>`;
    return `<Contents><Key>${xmlOf(key)}</Key><LastModified>${new Date().toISOString()}</LastModified>${facts}</Contents>`;
  });
  const isCut = page.length < rest.length;
  const next = xmlOf(page.at(-1) ?? '');
  const more = isCut ? `<NextContinuationToken>${next}</NextContinuationToken><NextMarker>${next}</NextMarker>` : '';
  const head = `<Name>${name}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${isCut}</IsTruncated>${more}`;
  return xmlAnswer(`<ListBucketResult>${head}${xml.join('')}</ListBucketResult>`);
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

function xmlOf(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function xmlAnswer(xml: string, status = 200): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${xml}`, {
    status,
    headers: { 'content-type': 'application/xml' },
  });
}

/** An error as S3 says it. */
export function errorOf(code: string, status: number): Response {
  return xmlAnswer(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status);
}
