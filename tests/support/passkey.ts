export { type Ceremony, createPasskey, type Passkey } from '../../scripts/world/passkey.ts';
