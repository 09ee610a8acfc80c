import { EnclaveError, loadEnclave } from '../../client/enclave.ts';

/**
 * What every runtime's client must do, against that runtime's own WebCrypto; the outcome by name, `true` or what went
 * wrong.
 */
export async function runChecks(
  source: string | Uint8Array,
  sha256: string,
): Promise<Readonly<Record<string, unknown>>> {
  const enclave = await loadEnclave(source, { sha256 });
  const text = new TextEncoder().encode('a text that is longer than the window of the enclave, '.repeat(500));
  const raw = async (key: CryptoKey) => new Uint8Array(await crypto.subtle.exportKey('raw', key));
  const checks: Readonly<Record<string, () => unknown>> = {
    async 'hashes what is longer than its window as WebCrypto does'() {
      return same(enclave.sha256(text), await crypto.subtle.digest('SHA-256', text));
    },
    async 'a P-256 signature verifies in WebCrypto'() {
      const key = enclave.createKey('P-256');
      const point = Uint8Array.of(4, ...key.publicKey);
      const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
      const publicKey = await crypto.subtle.importKey('raw', point, algorithm, true, ['verify']);
      const isValid = await crypto.subtle.verify(algorithm, publicKey, key.sign(enclave.sha256(text)), text);
      return isValid && same(await raw(publicKey), point);
    },
    async 'an Ed25519 signature verifies in WebCrypto'() {
      const key = enclave.createKey('Ed25519');
      const publicKey = await crypto.subtle.importKey('raw', key.publicKey, 'Ed25519', true, ['verify']);
      const message = text.subarray(0, 1000);
      return crypto.subtle.verify('Ed25519', publicKey, key.sign(message), message);
    },
    async 'verifies what WebCrypto signed, and not what was changed'() {
      const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
      const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const signature = new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, text));
      const key = (await raw(publicKey)).subarray(1);
      const isValid = enclave.verify('P-256', key, enclave.sha256(text), signature);
      return isValid && !enclave.verify('P-256', key, enclave.sha256(text.subarray(1)), signature);
    },
    'seals a key, forgets it, and has it again'() {
      const secret = crypto.getRandomValues(new Uint8Array(32));
      const digest = enclave.sha256(text);
      const key = enclave.createKey('secp256k1');
      const [signature, box] = [key.sign(digest), key.seal(secret)];
      key.drop();
      const dropped = reasonOf(() => key.sign(digest));
      const forged = reasonOf(() =>
        enclave.openKey(
          box,
          secret.map((byte) => byte ^ 1),
        ),
      );
      const again = enclave.openKey(enclave.joinBox(enclave.splitBox(box, 2, 3).slice(1)), secret);
      return dropped === 'NO_KEY' && forged === 'FORGED' && same(again.sign(digest), signature);
    },
    'signs UCAN payloads, and drops the key'() {
      const key = enclave.createKey();
      const signature = key.signUcan(text.subarray(0, 500));
      const isValid = enclave.verify('P-256', key.publicKey, enclave.sha256(text.subarray(0, 500)), signature);
      key.drop();
      return isValid && enclave.isLowS('P-256', signature);
    },
    async 'refuses a file with another digest'() {
      const other = `${sha256.slice(0, -1)}${sha256.endsWith('0') ? '1' : '0'}`;
      const refused = await loadEnclave(source, { sha256: other }).then(
        () => 'loaded',
        (error: Error) => error.message,
      );
      return refused.includes('SHA-256') || refused;
    },
    async 'loads without a digest too'() {
      return same((await loadEnclave(source)).keccak256(text), enclave.keccak256(text));
    },
  };
  const outcome: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks)) {
    try {
      outcome[name] = await check();
    } catch (error) {
      outcome[name] = String(error);
    }
  }
  return outcome;
}

function same(a: Uint8Array, b: Uint8Array | ArrayBuffer): boolean {
  const other = new Uint8Array(b);
  return a.length === other.length && a.every((byte, i) => byte === other[i]);
}

function reasonOf(run: () => unknown): string {
  try {
    run();
    return 'done';
  } catch (error) {
    return error instanceof EnclaveError ? error.reason : String(error);
  }
}
