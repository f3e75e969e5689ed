/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file vectors.h
 * Published vectors, in hex. A block cipher's appears as CBC with a zero IV.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include "inc_types.h"

static const struct cbc_vector {
	const char *name, *key, *iv, *plain, *cipher;
} cbc_vectors[] = {
	{"FIPS 197 C.1",
		 "000102030405060708090a0b0c0d0e0f",
		 "00000000000000000000000000000000",
		 "00112233445566778899aabbccddeeff",
		 "69c4e0d86a7b0430d8cdb78070b4c55a"},
	{"FIPS 197 C.2",
		 "000102030405060708090a0b0c0d0e0f1011121314151617",
		 "00000000000000000000000000000000",
		 "00112233445566778899aabbccddeeff",
		 "dda97ca4864cdfe06eaf70a0ec0d7191"},
	{"FIPS 197 C.3",
		 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		 "00000000000000000000000000000000",
		 "00112233445566778899aabbccddeeff",
		 "8ea2b7ca516745bfeafc49904b496089"},
	{"RFC 3602 case 1",
		 "06a9214036b8a15b512e03d534120006",
		 "3dafba429d9eb430b422da802c9fac41",
		 "53696e676c6520626c6f636b206d7367",
		 "e353779c1079aeb82708942dbe77181a"},
	{"RFC 3602 case 2",
		 "c286696d887c9aa0611bbb3e2025a45a",
		 "562e17996d093d28ddb3ba695a2e6f58",
		 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		 "d296cd94c2cccf8a3a863028b5e1dc0a7586602d253cfff91b8266bea6d61ab1"},
	{"RFC 3602 case 3",
		 "6c3ea0477630ce21a2ce334aa746c2cd",
		 "c782dc4c098c66cbd9cd27d825682c81",
		 "5468697320697320612034382d62797465206d65737361676520286578616374"
		 "6c7920332041455320626c6f636b7329",
		 "d0a02b3836451753d493665d33f0e8862dea54cdb293abc7506939276772f8d5"
		 "021c19216bad525c8579695d83ba2684"},
	{"RFC 3602 case 4",
		 "56e47a38c5598974bc46903dba290349",
		 "8ce82eefbea0da3c44699ed7db51b7d9",
		 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
		 "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf",
		 "c30e32ffedc0774e6aff6af0869f71aa0f3af07a9a31a9c684db207eb0ef8e4e"
		 "35907aa632c3ffdf868bb7b29d3d46ad83ce9f9a102ee99d49a53e87f4c3da55"},
	{"SP 800-38A F.2.1",
		 "2b7e151628aed2a6abf7158809cf4f3c",
		 "000102030405060708090a0b0c0d0e0f",
		 "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
		 "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
		 "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
		 "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"},
	{"SP 800-38A F.2.3",
		 "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
		 "000102030405060708090a0b0c0d0e0f",
		 "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
		 "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
		 "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
		 "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"},
	{"SP 800-38A F.2.5",
		 "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
		 "000102030405060708090a0b0c0d0e0f",
		 "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
		 "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
		 "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
		 "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"},
};

/* McGrew and Viega, The Galois/Counter Mode of Operation, appendix B: those with a 96-bit IV. */
static const struct gcm_vector {
	const char *name, *key, *iv, *aad, *plain, *cipher, *tag;
} gcm_vectors[] = {
	{"GCM case 1",
		 "00000000000000000000000000000000",
		 "000000000000000000000000",
		 "",
		 "",
		 "",
		 "58e2fccefa7e3061367f1d57a4e7455a"},
	{"GCM case 2",
		 "00000000000000000000000000000000",
		 "000000000000000000000000",
		 "",
		 "00000000000000000000000000000000",
		 "0388dace60b6a392f328c2b971b2fe78",
		 "ab6e47d42cec13bdf53a67b21257bddf"},
	{"GCM case 3",
		 "feffe9928665731c6d6a8f9467308308",
		 "cafebabefacedbaddecaf888",
		 "",
		 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
		 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
		 "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
		 "4d5c2af327cd64a62cf35abd2ba6fab4"},
	{"GCM case 4",
		 "feffe9928665731c6d6a8f9467308308",
		 "cafebabefacedbaddecaf888",
		 "feedfacedeadbeeffeedfacedeadbeefabaddad2",
		 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
		 "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
		 "5bc94fbc3221a5db94fae95ae7121a47"},
	{"GCM case 7",
		 "000000000000000000000000000000000000000000000000",
		 "000000000000000000000000",
		 "",
		 "",
		 "",
		 "cd33b28ac773f74ba00ed1f312572435"},
	{"GCM case 8",
		 "000000000000000000000000000000000000000000000000",
		 "000000000000000000000000",
		 "",
		 "00000000000000000000000000000000",
		 "98e7247c07f0fe411c267e4384b0f600",
		 "2ff58d80033927ab8ef4d4587514f0fb"},
	{"GCM case 9",
		 "feffe9928665731c6d6a8f9467308308feffe9928665731c",
		 "cafebabefacedbaddecaf888",
		 "",
		 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
		 "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
		 "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710acade256",
		 "9924a7c8587336bfb118024db8674a14"},
	{"GCM case 10",
		 "feffe9928665731c6d6a8f9467308308feffe9928665731c",
		 "cafebabefacedbaddecaf888",
		 "feedfacedeadbeeffeedfacedeadbeefabaddad2",
		 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		 "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c"
		 "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
		 "2519498e80f1478f37ba55bd6d27618c"},
	{"GCM case 13",
		 "0000000000000000000000000000000000000000000000000000000000000000",
		 "000000000000000000000000",
		 "",
		 "",
		 "",
		 "530f8afbc74536b9a963b4f1c4cb738b"},
	{"GCM case 14",
		 "0000000000000000000000000000000000000000000000000000000000000000",
		 "000000000000000000000000",
		 "",
		 "00000000000000000000000000000000",
		 "cea7403d4d606b6e074ec5d3baf39d18",
		 "d0d1c8a799996bf0265b98b5d48ab919"},
	{"GCM case 15",
		 "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
		 "cafebabefacedbaddecaf888",
		 "",
		 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
		 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
		 "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
		 "b094dac5d93471bdec1a502270e3cc6c"},
	{"GCM case 16",
		 "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
		 "cafebabefacedbaddecaf888",
		 "feedfacedeadbeeffeedfacedeadbeefabaddad2",
		 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		 "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
		 "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
		 "76fc6ece0f4e1768cddf8853bb2d551b"},
};

static const struct hmac_vector {
	const char *name;
	enum ocl_auth auth;
	const char *key, *message, *digest;
} hmac_vectors[] = {
	{"RFC 2202 case 1, sha1", OCL_AUTH_HMAC_SHA1,
		 "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
		 "4869205468657265",
		 "b617318655057264e28bc0b6fb378c8ef146be00"},
	{"RFC 2202 case 2, sha1", OCL_AUTH_HMAC_SHA1,
		 "4a656665",
		 "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
		 "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
	{"RFC 2202 case 3, sha1", OCL_AUTH_HMAC_SHA1,
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
		 "dddddddddddddddddddddddddddddddddddd",
		 "125d7342b9ac11cd91a39af48aa17b4f63f175d3"},
	{"RFC 2202 case 4, sha1", OCL_AUTH_HMAC_SHA1,
		 "0102030405060708090a0b0c0d0e0f10111213141516171819",
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
		 "4c9007f4026250c6bc8414f9bf50c86c2d7235da"},
	{"RFC 2202 case 5, sha1", OCL_AUTH_HMAC_SHA1,
		 "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c",
		 "546573742057697468205472756e636174696f6e",
		 "4c1a03424b55e07fe7f27be1"},
	{"RFC 4231 case 1, sha256", OCL_AUTH_HMAC_SHA256,
		 "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
		 "4869205468657265",
		 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
	{"RFC 4231 case 2, sha256", OCL_AUTH_HMAC_SHA256,
		 "4a656665",
		 "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
		 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
	{"RFC 4231 case 3, sha256", OCL_AUTH_HMAC_SHA256,
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
		 "dddddddddddddddddddddddddddddddddddd",
		 "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
	{"RFC 4231 case 4, sha256", OCL_AUTH_HMAC_SHA256,
		 "0102030405060708090a0b0c0d0e0f10111213141516171819",
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
		 "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
	{"RFC 4231 case 5, sha256", OCL_AUTH_HMAC_SHA256,
		 "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c",
		 "546573742057697468205472756e636174696f6e",
		 "a3b6167473100ee06e0c796c2955552b"},
	{"RFC 4231 case 1, sha384", OCL_AUTH_HMAC_SHA384,
		 "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
		 "4869205468657265",
		 "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
		 "faea9ea9076ede7f4af152e8b2fa9cb6"},
	{"RFC 4231 case 2, sha384", OCL_AUTH_HMAC_SHA384,
		 "4a656665",
		 "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
		 "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
		 "8e2240ca5e69e2c78b3239ecfab21649"},
	{"RFC 4231 case 3, sha384", OCL_AUTH_HMAC_SHA384,
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
		 "dddddddddddddddddddddddddddddddddddd",
		 "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b"
		 "2a5ab39dc13814b94e3ab6e101a34f27"},
	{"RFC 4231 case 4, sha384", OCL_AUTH_HMAC_SHA384,
		 "0102030405060708090a0b0c0d0e0f10111213141516171819",
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
		 "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e"
		 "6801dd23c4a7d679ccf8a386c674cffb"},
	{"RFC 4231 case 5, sha384", OCL_AUTH_HMAC_SHA384,
		 "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c",
		 "546573742057697468205472756e636174696f6e",
		 "3abf34c3503b2a23a46efc619baef897"},
	{"RFC 4231 case 1, sha512", OCL_AUTH_HMAC_SHA512,
		 "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
		 "4869205468657265",
		 "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
		 "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"},
	{"RFC 4231 case 2, sha512", OCL_AUTH_HMAC_SHA512,
		 "4a656665",
		 "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
		 "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
		 "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
	{"RFC 4231 case 3, sha512", OCL_AUTH_HMAC_SHA512,
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
		 "dddddddddddddddddddddddddddddddddddd",
		 "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39"
		 "bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb"},
	{"RFC 4231 case 4, sha512", OCL_AUTH_HMAC_SHA512,
		 "0102030405060708090a0b0c0d0e0f10111213141516171819",
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
		 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
		 "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db"
		 "a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd"},
	{"RFC 4231 case 5, sha512", OCL_AUTH_HMAC_SHA512,
		 "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c",
		 "546573742057697468205472756e636174696f6e",
		 "415fad6271580a531d4179bc891d87a6"},
};

#endif
