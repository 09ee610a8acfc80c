// What settings and identifiers take of Ethereum's libraries: few starts call it, so that the program loads it later.
export { keccak_256 } from '@noble/hashes/sha3.js';
export { checksum } from 'ox/Address';
export { fromEther, fromGwei } from 'ox/Value';
