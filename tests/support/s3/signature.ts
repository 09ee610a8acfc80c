import { createHash, createHmac } from 'node:crypto';

/** Who may ask. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** The XML code of the error for a request whose AWS Signature 4 is missing, wrong or too old; undefined if it is right. */
export function signatureFault(
  request: Request,
  body: Uint8Array,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
): string | undefined {
  const { headers } = request;
  const found = AUTHORIZATION.exec(headers.get('authorization') ?? '');
  if (found === null) return 'AccessDenied';
  const [, key = '', day = '', itsRegion = '', signed = '', signature = ''] = found;
  const time = headers.get('x-amz-date') ?? '';
  const digest = headers.get('x-amz-content-sha256') ?? '';
  if (headers.has('x-amz-security-token')) return 'InvalidToken';
  if (key !== accessKeyId) return 'InvalidAccessKeyId';
  if (itsRegion !== region) return 'AuthorizationHeaderMalformed';
  if (!time.startsWith(day) || Math.abs(Date.now() - timeOf(time)) > SKEW_MAX_MS) return 'RequestTimeTooSkewed';
  if (digest !== 'UNSIGNED-PAYLOAD' && digest !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const names = signed.split(';');
  // A header of Amazon's that is not signed could be anybody's.
  const unsigned = [...headers.keys()].filter((name) => name.startsWith('x-amz-') && !names.includes(name));
  if (unsigned.length > 0 || !names.includes('host')) return 'AccessDenied';
  const url = new URL(request.url);
  const canonical = [
    request.method,
    encode(decodeURIComponent(url.pathname)).replaceAll('%2F', '/'),
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(headers.get(name) ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    signed,
    digest,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(Buffer.from(canonical))].join('\n');
  const signingKey = [day, region, 's3', 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  return hmac(signingKey, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
const SKEW_MAX_MS = 15 * 60_000;

function timeOf(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function canonicalQuery({ search }: URL): string {
  const pairs = search
    .slice(1)
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value))}`;
    });
  return pairs.sort().join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
