// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";
import {Assertion} from "../account2/Assertion.sol";

/// @title For tests: an assertion as the second account verifies it, and as OpenZeppelin does
contract Assertions {
    function own(bytes32 challenge, uint256 x, uint256 y, bytes calldata assertion) external view returns (bool) {
        return Assertion.verify(challenge, assertion, x, y);
    }

    function openZeppelin(bytes32 challenge, uint256 x, uint256 y, bytes calldata assertion)
        external
        view
        returns (bool)
    {
        (bool decoded, WebAuthn.WebAuthnAuth calldata auth) = WebAuthn.tryDecodeAuth(assertion);
        return decoded && WebAuthn.verify(abi.encodePacked(challenge), auth, bytes32(x), bytes32(y));
    }
}
