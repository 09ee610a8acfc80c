export { type Ceremony, createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
