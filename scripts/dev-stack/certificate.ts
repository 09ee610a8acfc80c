// X.509 v3, RFC 5280; DER, ITU-T X.690
import { concat, utf8 } from '../../lib/base/bytes.ts';

/**
 * A fresh P-256 key and its self-signed certificate for `localhost` and `127.0.0.1`, both PEM, good from yesterday for
 * ten years.
 */
export async function createCertificate(): Promise<{ key: string; cert: string }> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const subjectKey = new Uint8Array(await crypto.subtle.exportKey('spki', pair.publicKey));
  const unsigned = sequence(
    der(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(time(-DAY_MS), time(3650 * DAY_MS)),
    NAME,
    subjectKey,
    der(
      0xa3,
      sequence(sequence(SUBJECT_ALT_NAME, der(0x04, sequence(der(0x82, utf8('localhost')), der(0x87, LOOPBACK))))),
    ),
  );
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, unsigned);
  const [r, s] = [signature.slice(0, 32), signature.slice(32)].map((half) => unsignedInteger(new Uint8Array(half)));
  const signed = sequence(unsigned, ECDSA_WITH_SHA256, der(0x03, Uint8Array.of(0), sequence(r ?? NONE, s ?? NONE)));
  const key = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey));
  return { key: pem('PRIVATE KEY', key), cert: pem('CERTIFICATE', signed) };
}

const DAY_MS = 86_400_000;
const NONE = new Uint8Array();
const LOOPBACK = Uint8Array.of(127, 0, 0, 1);
const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11);
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const NAME = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, utf8('localhost')))));

function der(tag: number, ...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const content = concat(...parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return concat(Uint8Array.of(tag, ...size), content);
}

function sequence(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(0x30, ...parts);
}

function oid(...bytes: number[]): Uint8Array<ArrayBuffer> {
  return der(0x06, Uint8Array.from(bytes));
}

function integer(value: number): Uint8Array<ArrayBuffer> {
  return der(0x02, Uint8Array.of(value));
}

/** The shortest form: no leading zero bytes but the one that keeps the sign positive. */
function unsignedInteger(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const first = bytes.findIndex((byte) => byte !== 0);
  const short = bytes.subarray(first);
  return der(0x02, (short[0] ?? 0) >= 0x80 ? concat(Uint8Array.of(0), short) : short);
}

/** UTCTime, `YYMMDDhhmmssZ`. */
function time(offsetMs: number): Uint8Array<ArrayBuffer> {
  const digits = new Date(Date.now() + offsetMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, utf8(`${digits}Z`));
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
